import { deadLetterChoices, type DeadLetterChoice, type DeadLetterKind } from '../domain/dead-letter-choices.ts';
import type { Db } from './pool.ts';

/** Something that waits for a human, as the API shows it; field names are those of the contract. */
export interface DeadLetterView {
  readonly id: string;
  readonly kind: DeadLetterKind;
  readonly status: 'open' | 'decided' | 'recovered';
  readonly source: string | null;
  readonly event_id: string | null;
  readonly order_id: string | null;
  readonly payment_id: string | null;
  readonly refund_id: string | null;
  /** Minor units of `currency`. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly extra_capture: boolean;
  readonly since: string;
  readonly closed_at: string | null;
  readonly last_error: string;
  readonly workflow_id: string | null;
  /** Empty once it is closed. */
  readonly choices: readonly DeadLetterChoice[];
  readonly decision: Readonly<Record<string, unknown>> | null;
}

/** Where a page ended. */
export interface DeadLetterPosition {
  readonly closed: number;
  readonly ordinary: number;
  /** Microseconds since the epoch, as decimal text. */
  readonly since: string;
  readonly id: string;
}

interface DeadLetterRow extends Omit<DeadLetterView, 'since' | 'closed_at' | 'choices'> {
  since: Date;
  closed_at: Date | null;
  order_currency: string | null;
  closed: number;
  ordinary: number;
  micros: bigint | string;
}

const SELECT = `
  select d.id, d.kind, d.status, d.source, d.event_id, d.order_id, d.payment_id, d.refund_id, d.amount, d.currency,
         d.extra_capture, d.since, d.closed_at, d.last_error, d.workflow_id, d.decision, o.currency as order_currency,
         d.closed, d.ordinary, (extract(epoch from d.since) * 1000000)::bigint as micros
  from (select *, (status <> 'open')::int as closed, (not extra_capture)::int as ordinary from dead_letters) d
  left join orders o on o.id = d.order_id`;

/** Open ones first, extra captures before all, then the oldest. */
export async function listDeadLetters(
  db: Db,
  page: { readonly limit: number; readonly after: DeadLetterPosition | null },
): Promise<{ readonly deadLetters: readonly DeadLetterView[]; readonly next: DeadLetterPosition | null }> {
  const { after } = page;
  const { rows } = await db.query<DeadLetterRow>(
    `${SELECT}
     where $1::int is null or (d.closed, d.ordinary, d.since, d.id)
           > ($1, $2::int, timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::text)
     order by d.closed, d.ordinary, d.since, d.id limit $5`,
    [after?.closed ?? null, after?.ordinary ?? null, after?.since ?? null, after?.id ?? null, page.limit + 1],
  );
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    deadLetters: shown.map(view),
    next:
      rows.length > page.limit && last !== undefined
        ? { closed: last.closed, ordinary: last.ordinary, since: String(last.micros), id: last.id }
        : null,
  };
}

/** One of them; null where there is none of this id. */
export async function readDeadLetter(db: Db, id: string): Promise<DeadLetterView | null> {
  const { rows } = await db.query<DeadLetterRow>(`${SELECT} where d.id = $1`, [id]);
  return rows[0] === undefined ? null : view(rows[0]);
}

function view(row: DeadLetterRow): DeadLetterView {
  const matches = row.currency !== null && row.currency === row.order_currency;
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    source: row.source,
    event_id: row.event_id,
    order_id: row.order_id,
    payment_id: row.payment_id,
    refund_id: row.refund_id,
    amount: row.amount,
    currency: row.currency,
    extra_capture: row.extra_capture,
    since: row.since.toISOString(),
    closed_at: row.closed_at?.toISOString() ?? null,
    last_error: row.last_error,
    workflow_id: row.workflow_id,
    choices: row.status === 'open' ? deadLetterChoices(row.kind, matches) : [],
    decision: row.decision,
  };
}

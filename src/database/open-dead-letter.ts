import type { PoolClient } from 'pg';
import type { DeadLetterKind } from '../domain/dead-letter-choices.ts';
import type { DeadLetterStatus } from '../domain/dead-letter-states.ts';
import { recordTransition } from './record-transition.ts';

export interface DeadLetter {
  /** Derived from what it is about: the same trouble is one row however often it is met. */
  readonly id: string;
  readonly kind: DeadLetterKind;
  /** Null where it is about no payment gateway. */
  readonly source: string | null;
  readonly eventId?: string | null;
  readonly orderId?: string | null;
  readonly paymentId?: string | null;
  readonly refundId?: string | null;
  readonly payoutId?: string | null;
  readonly amount?: bigint | null;
  readonly currency?: string | null;
  /** One sentence for the person who decides. */
  readonly lastError: string;
  /** The workflow that waits for the decision. */
  readonly workflowId?: string | null;
  /** A customer's second payment is listed before all others. */
  readonly extraCapture?: boolean;
}

/**
 * Puts something before a human (F5). A row that is open keeps its age and takes the newest error; one that a person
 * decided, or that came right by itself, is opened again: it is new trouble.
 */
export async function openDeadLetter(tx: PoolClient, d: DeadLetter): Promise<void> {
  const { rows } = await tx.query<{ before: DeadLetterStatus | null }>(
    `with before as (select status from dead_letters where id = $1)
     insert into dead_letters (id, kind, source, event_id, order_id, payment_id, refund_id, amount, currency, last_error,
                               workflow_id, extra_capture, payout_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict (id) do update set
       last_error = excluded.last_error,
       order_id = coalesce(excluded.order_id, dead_letters.order_id),
       event_id = coalesce(dead_letters.event_id, excluded.event_id),
       amount = coalesce(excluded.amount, dead_letters.amount), currency = coalesce(excluded.currency, dead_letters.currency),
       status = 'open', closed_at = null, decision = null,
       since = case when dead_letters.status = 'open' then dead_letters.since else now() end
     returning (select status from before) as before`,
    [
      d.id,
      d.kind,
      d.source,
      d.eventId ?? null,
      d.orderId ?? null,
      d.paymentId ?? null,
      d.refundId ?? null,
      d.amount ?? null,
      d.currency ?? null,
      d.lastError,
      d.workflowId ?? null,
      d.extraCapture ?? false,
      d.payoutId ?? null,
    ],
  );
  const before = rows[0]?.before ?? 'open';
  if (before === 'open') return;
  const { id: objectId, orderId = null, source, paymentId = null } = d;
  const about = { machine: 'dead_letter', objectId, orderId, source, paymentId } as const;
  await recordTransition(tx, {
    ...about,
    from: before,
    to: 'open',
    cause: 'the same trouble again',
    detail: d.lastError,
  });
}

/** Closes rows that came right by themselves; a row that a person decided stays as decided. */
export async function recoverDeadLetters(tx: PoolClient, ids: readonly string[]): Promise<number> {
  const { rows } = await tx.query<{ objectId: string; orderId: string; source: string; paymentId: string }>(
    `update dead_letters set status = 'recovered', closed_at = now() where id = any($1) and status = 'open'
     returning id as "objectId", order_id as "orderId", source, payment_id as "paymentId"`,
    [ids],
  );
  for (const row of rows) {
    await recordTransition(tx, {
      ...{ machine: 'dead_letter', from: 'open', to: 'recovered', cause: 'it came right by itself' },
      ...row,
    });
  }
  return rows.length;
}

import { EVERY_TYPE } from '../domain/announcement-types.ts';
import { inTransaction, type Db, type Pool } from './pool.ts';

/** An endpoint as the API shows it: never its secrets. */
export interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly event_types: readonly string[];
  readonly disabled: boolean;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
}

interface EndpointRow extends Omit<EndpointView, 'created_at' | 'updated_at'> {
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, url, event_types, disabled, created_by, created_at, updated_at';

export async function createEndpoint(
  pool: Pool,
  endpoint: Pick<EndpointView, 'id' | 'url' | 'event_types' | 'created_by'> & { readonly secret: string },
): Promise<EndpointView> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<EndpointRow>(
      `insert into endpoints (id, url, event_types, created_by) values ($1, $2, $3, $4) returning ${COLUMNS}`,
      [endpoint.id, endpoint.url, ordered(endpoint.event_types), endpoint.created_by],
    );
    await tx.query('insert into endpoint_secrets (endpoint_id, secret) values ($1, $2)', [
      endpoint.id,
      endpoint.secret,
    ]);
    return view(rows[0] as EndpointRow);
  });
}

/** Oldest first. */
export async function listEndpoints(
  db: Db,
  page: { readonly limit: number; readonly after: { readonly createdAt: string; readonly id: string } | null },
): Promise<{
  readonly endpoints: readonly EndpointView[];
  readonly next: { readonly createdAt: string; readonly id: string } | null;
}> {
  const { rows } = await db.query<EndpointRow & { micros: bigint }>(
    `select ${COLUMNS}, (extract(epoch from created_at) * 1000000)::bigint as micros from endpoints
     where $1::bigint is null or (created_at, id) > (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2::text)
     order by created_at, id limit $3`,
    [page.after?.createdAt ?? null, page.after?.id ?? null, page.limit + 1],
  );
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    endpoints: shown.map(view),
    next: rows.length > page.limit && last !== undefined ? { createdAt: String(last.micros), id: last.id } : null,
  };
}

export async function readEndpoint(db: Db, id: string): Promise<EndpointView | null> {
  const { rows } = await db.query<EndpointRow>(`select ${COLUMNS} from endpoints where id = $1`, [id]);
  return rows[0] === undefined ? null : view(rows[0]);
}

/** What is given is changed, the rest stays. Null where there is no such endpoint. */
export async function changeEndpoint(
  db: Db,
  id: string,
  change: {
    readonly url: string | null;
    readonly eventTypes: readonly string[] | null;
    readonly disabled: boolean | null;
  },
): Promise<EndpointView | null> {
  const { rows } = await db.query<EndpointRow>(
    `update endpoints
     set url = coalesce($2, url), event_types = coalesce($3, event_types), disabled = coalesce($4, disabled), updated_at = now()
     where id = $1 returning ${COLUMNS}`,
    [id, change.url, change.eventTypes === null ? null : ordered(change.eventTypes), change.disabled],
  );
  return rows[0] === undefined ? null : view(rows[0]);
}

/** `*` says it all. */
function ordered(types: readonly string[]): string[] {
  return types.includes(EVERY_TYPE) ? [EVERY_TYPE] : [...new Set(types)].sort();
}

function view({ created_at, updated_at, ...rest }: EndpointRow): EndpointView {
  const { id, url, event_types, disabled, created_by } = rest;
  return {
    ...{ id, url, event_types, disabled, created_by },
    ...{ created_at: created_at.toISOString(), updated_at: updated_at.toISOString() },
  };
}

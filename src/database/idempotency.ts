import { type Db, inTransaction, type Pool, type Tx } from './pool.ts';

/** One request under an Idempotency-Key. */
export interface KeyedRequest {
  /** Client, method and concrete path (E3): a key means nothing outside of it. */
  readonly scope: string;
  readonly key: string;
  /** SHA-256 of the canonical form. */
  readonly hash: Buffer;
}

/** An answer as it was sent. Nothing but success is ever stored. */
export interface StoredAnswer {
  readonly status: 201 | 202;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Claim =
  /** Ours from now on: reserve, and commit both together. */
  | { readonly kind: 'fresh' }
  /** Whoever had it is past its lease; what it reserved is to be completed. */
  | { readonly kind: 'interrupted'; readonly reservation: string }
  | { readonly kind: 'done'; readonly answer: StoredAnswer }
  | { readonly kind: 'running' }
  | { readonly kind: 'other_request' };

interface KeyRow {
  request_hash: Buffer;
  status: 'in_progress' | 'completed';
  response_code: 201 | 202 | null;
  response_body: string | null;
  response_headers: Record<string, string> | null;
  reservation: string | null;
  expired: boolean;
}

/**
 * Claims the key inside the transaction that will reserve the business row, so that both commit or neither (E4). While another
 * transaction holds the same key uncommitted, this waits for its end.
 */
export async function claimKey(tx: Tx, { scope, key, hash }: KeyedRequest, leaseMs: number): Promise<Claim> {
  const lease = `${leaseMs} milliseconds`;
  const claimed = await tx.query(
    `insert into idempotency_keys (scope, key, request_hash, status, leased_until)
     values ($1, $2, $3, 'in_progress', clock_timestamp() + $4::interval)
     on conflict do nothing returning 1`,
    [scope, key, hash, lease],
  );
  if (claimed.rowCount === 1) return { kind: 'fresh' };
  const { rows } = await tx.query<KeyRow>(
    `select request_hash, status, response_code, response_body, response_headers, reservation,
            leased_until <= clock_timestamp() as expired
     from idempotency_keys where scope = $1 and key = $2 for update`,
    [scope, key],
  );
  const row = rows[0];
  // Reaped between the two statements: the next try finds it free.
  if (row === undefined) return { kind: 'running' };
  if (!row.request_hash.equals(hash)) return { kind: 'other_request' };
  const answer = storedAnswer(row);
  if (answer !== null) return { kind: 'done', answer };
  if (!row.expired) return { kind: 'running' };
  await tx.query(
    `update idempotency_keys set leased_until = clock_timestamp() + $3::interval where scope = $1 and key = $2`,
    [scope, key, lease],
  );
  return row.reservation === null ? { kind: 'fresh' } : { kind: 'interrupted', reservation: row.reservation };
}

/** Whether the key was used with another request. */
export async function isKeyOfAnother(db: Db, { scope, key, hash }: KeyedRequest): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from idempotency_keys where scope = $1 and key = $2 and request_hash <> $3',
    [scope, key, hash],
  );
  return rowCount === 1;
}

/** Writes beside the claim what it reserved, so that an interrupted request is completed from it. */
export async function keepReservation(tx: Tx, { scope, key }: KeyedRequest, reservation: string): Promise<void> {
  await tx.query('update idempotency_keys set reservation = $3 where scope = $1 and key = $2', [
    scope,
    key,
    reservation,
  ]);
}

/**
 * Stores the answer, unless somebody else was first: then theirs is answered.
 *
 * @returns the stored answer, and whether it is this one
 */
export async function storeAnswer(
  db: Db,
  { scope, key }: Pick<KeyedRequest, 'scope' | 'key'>,
  answer: StoredAnswer,
): Promise<{ readonly answer: StoredAnswer; readonly first: boolean }> {
  const stored = await db.query(
    `update idempotency_keys
     set status = 'completed', response_code = $3, response_body = $4, response_headers = $5, completed_at = clock_timestamp()
     where scope = $1 and key = $2 and status = 'in_progress' returning 1`,
    [scope, key, answer.status, answer.body, JSON.stringify(answer.headers)],
  );
  if (stored.rowCount === 1) return { answer, first: true };
  const { rows } = await db.query<KeyRow>(
    'select response_code, response_body, response_headers from idempotency_keys where scope = $1 and key = $2',
    [scope, key],
  );
  const earlier = rows[0] === undefined ? null : storedAnswer(rows[0]);
  return earlier === null ? { answer, first: true } : { answer: earlier, first: false };
}

/** Gives up the lease of a request that failed on the way, so that the next try completes it at once. */
export async function releaseLease(pool: Pool, { scope, key }: KeyedRequest): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query(
      `update idempotency_keys set leased_until = clock_timestamp()
       where scope = $1 and key = $2 and status = 'in_progress'`,
      [scope, key],
    );
  });
}

function storedAnswer(row: Pick<KeyRow, 'response_code' | 'response_body' | 'response_headers'>): StoredAnswer | null {
  if (row.response_code === null || row.response_body === null) return null;
  return { status: row.response_code, headers: row.response_headers ?? {}, body: row.response_body };
}

import type { Db } from './pool.ts';

/**
 * The state of one call that moves money, by our reference. It is written before anything is sent (F1), so that
 * whatever dies, the next attempt knows whether an answer is outstanding.
 */
export interface GatewayCall {
  /** Grows only after a definite rejection was repaired; gives a new key to the gateway (F3). */
  readonly attempt: number;
  /** A create was sent, and its answer never came. */
  readonly unanswered: boolean;
  /** When a look-up after that first found nothing. */
  readonly absentSince: Date | null;
}

/** A call that was never sent reads as attempt 1 with nothing outstanding. */
export async function readGatewayCall(db: Db, reference: string): Promise<GatewayCall> {
  const { rows } = await db.query<{ attempt: number; unanswered: boolean; absent_since: Date | null }>(
    'select attempt, unanswered_since is not null as unanswered, absent_since from gateway_calls where reference = $1',
    [reference],
  );
  const row = rows[0];
  if (row === undefined) return { attempt: 1, unanswered: false, absentSince: null };
  return { attempt: row.attempt, unanswered: row.unanswered, absentSince: row.absent_since };
}

/** Before a create: from now on an answer is outstanding. */
export async function noteSending(db: Db, call: { source: string; reference: string; at: Date }): Promise<void> {
  await db.query(
    `insert into gateway_calls (reference, source, unanswered_since, sends) values ($1, $2, $3, 1)
     on conflict (reference) do update set
       unanswered_since = excluded.unanswered_since, absent_since = null, sends = gateway_calls.sends + 1, updated_at = now()`,
    [call.reference, call.source, call.at],
  );
}

/** The first of the two look-ups that must find nothing before the create is sent again (F2). */
export async function noteAbsent(db: Db, reference: string, at: Date): Promise<void> {
  await db.query(
    'update gateway_calls set absent_since = coalesce(absent_since, $2), updated_at = now() where reference = $1',
    [reference, at],
  );
}

/** The answer came: what was sent is known to have happened, or not to. */
export async function noteAnswered(
  db: Db,
  reference: string,
  options: { readonly repaired?: boolean } = {},
): Promise<void> {
  await db.query(
    `update gateway_calls set unanswered_since = null, absent_since = null, updated_at = now(),
            attempt = attempt + case when $2::boolean then 1 else 0 end
     where reference = $1`,
    [reference, options.repaired ?? false],
  );
}

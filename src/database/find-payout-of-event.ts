import type { Db } from './pool.ts';

/** The payout of ours that a gateway's event is about: by our reference, else by the gateway's id; null where there is none. */
export async function findPayoutOfEvent(
  db: Db,
  event: { readonly source: string; readonly objectId: string | null; readonly reference: string | null },
): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from payouts
     where source = $1 and (reference = $2 or gateway_payout_id = $3 or $3 = any(superseded_gateway_ids))
     order by (reference = $2) desc nulls last limit 1`,
    [event.source, event.reference, event.objectId],
  );
  return rows[0]?.id ?? null;
}

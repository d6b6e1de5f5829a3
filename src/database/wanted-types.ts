import type { Db } from './pool.ts';

/** The event types that endpoints subscribe to, disabled ones included: what they miss is kept as skipped. May hold `*`. */
export async function readWantedTypes(db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ type: string }>('select distinct unnest(event_types) as type from endpoints');
  return new Set(rows.map(({ type }) => type));
}

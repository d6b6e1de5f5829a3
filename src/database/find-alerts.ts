import type { AlertChannelName } from '../domain/plan-alerts.ts';
import type { Db } from './pool.ts';

/** Alerts that were raised or closed since the workflows that tell people were woken last; ids as decimal text. */
export async function alertsToHandOver(db: Db, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: bigint }>(
    'select id from alerts where handed_over_at is null order by id limit $1',
    [limit],
  );
  return rows.map(({ id }) => id.toString());
}

export async function markAlertsHandedOver(db: Db, ids: readonly string[]): Promise<void> {
  await db.query('update alerts set handed_over_at = clock_timestamp() where id = any($1::bigint[])', [ids]);
}

/** Those of the channels on which something is open, or was told and is over now: each must have its workflow running. */
export async function channelsWithWork(
  db: Db,
  channels: readonly AlertChannelName[],
): Promise<readonly AlertChannelName[]> {
  const { rows } = await db.query<{ channel: AlertChannelName }>(
    `select wanted.channel from unnest($1::text[]) as wanted (channel)
     where exists (select 1 from alerts where closed_at is null)
        or exists (select 1 from alert_tellings t where t.channel = wanted.channel and not over)`,
    [channels],
  );
  return rows.map(({ channel }) => channel);
}

/** Longer than a flood holds a message back, and than most failures last. */
const LATE_MINUTES = 5;

/** Whether somebody should have been told of an alert for a while, and was not, on one of these channels. */
export async function alertsAreLate(db: Db, channels: readonly AlertChannelName[]): Promise<boolean> {
  const { rows } = await db.query<{ late: boolean }>(
    `select exists (
       select 1 from alerts a cross join unnest($1::text[]) as wanted (channel)
       where a.closed_at is null and a.raised_at < now() - make_interval(mins => ${LATE_MINUTES})
         and not exists (select 1 from alert_tellings t where t.channel = wanted.channel and t.alert_id = a.id)) as late`,
    [channels],
  );
  return rows[0]?.late ?? false;
}

import type { AlertChannelName } from '../domain/plan-alerts.ts';
import type { Db } from './pool.ts';

/** Longer than an attempt may take; one that was killed holds the channel up this long. */
const LEASE_SECONDS = 60;

/** The right to send on a channel for a while. */
export interface AlertClaim {
  readonly channel: AlertChannelName;
  /** By which the claim is known as ours. */
  readonly until: string;
}

/** Null while another sender is at work, as after an attempt whose end nobody heard. */
export async function claimAlertChannel(db: Db, channel: AlertChannelName): Promise<AlertClaim | null> {
  const { rows } = await db.query<{ until: string }>(
    `insert into alert_channels as c (channel, leased_until)
     values ($1, clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))
     on conflict (channel) do update set leased_until = excluded.leased_until
     where c.leased_until is null or c.leased_until < clock_timestamp()
     returning leased_until::text as until`,
    [channel],
  );
  return rows[0] === undefined ? null : { channel, until: rows[0].until };
}

export async function releaseAlertChannel(db: Db, claim: AlertClaim): Promise<void> {
  await db.query(
    'update alert_channels set leased_until = null where channel = $1 and leased_until = $2::timestamptz',
    [claim.channel, claim.until],
  );
}

/** Nothing went out; lets go of the channel, too. */
export async function noteAlertFailed(db: Db, { channel, until }: AlertClaim, error: string): Promise<void> {
  await db.query(
    `update alert_channels
     set attempts = attempts + 1, failing_since = coalesce(failing_since, clock_timestamp()), last_error = $3,
         leased_until = case when leased_until = $2::timestamptz then null else leased_until end
     where channel = $1`,
    [channel, until, error],
  );
}

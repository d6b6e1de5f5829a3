import type { AlertMessage } from '../domain/plan-alerts.ts';
import type { AlertClaim } from './claim-alert-channel.ts';
import { inTransaction, type Pool } from './pool.ts';

const MARKS: Readonly<Record<AlertMessage['type'], string>> = {
  raised: `insert into alert_tellings (channel, alert_id, told_at, last_told_at)
           select $1, id, $3, $3 from unnest($2::bigint[]) as id on conflict do nothing`,
  reminder: `update alert_tellings set last_told_at = $3, reminders = reminders + 1
             where channel = $1 and alert_id = any($2::bigint[])`,
  recovered: `update alert_tellings set last_told_at = $3, over = true
              where channel = $1 and alert_id = any($2::bigint[])`,
};

/** Writes down that a message went out, once it did, and lets go of the channel. A crash before this sends it again. */
export async function markAlertsTold(
  pool: Pool,
  claim: AlertClaim,
  message: AlertMessage,
  times: { readonly at: number; readonly pacedUntil: number },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query(MARKS[message.type], [claim.channel, message.alerts.map(({ id }) => id), new Date(times.at)]);
    await tx.query(
      `update alert_channels
       set paced_until = $2, attempts = 0, failing_since = null, last_error = null,
           leased_until = case when leased_until = $3::timestamptz then null else leased_until end
       where channel = $1`,
      [claim.channel, new Date(times.pacedUntil), claim.until],
    );
  });
}

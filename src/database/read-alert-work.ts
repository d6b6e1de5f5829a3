import type { Alert, AlertChannelName, AlertWork } from '../domain/plan-alerts.ts';
import type { Db } from './pool.ts';

/** More than a message counts one by one for anybody; the rest goes into the next one. */
const MOST_ALERTS = 5_000;

interface Row {
  readonly state: 'untold' | 'told' | 'recovered';
  readonly id: bigint;
  readonly kind: Alert['kind'];
  readonly subject: Alert['subject'];
  readonly last_told_at: Date | null;
  readonly reminders: number | null;
}

/**
 * What a channel has to tell and has told. What was closed by a person, or is open anew, is nobody's news: nothing more is said
 * of it from here on.
 */
export async function readAlertWork(db: Db, channel: AlertChannelName): Promise<AlertWork> {
  await db.query(
    `update alert_tellings t set over = true from alerts a
     where t.channel = $1 and not t.over and a.id = t.alert_id and a.closed_at is not null
       and (a.outcome <> 'recovered'
            or exists (select 1 from alerts again where again.key = a.key and again.closed_at is null))`,
    [channel],
  );
  const { rows } = await db.query<Row>(
    `(select 'untold' as state, a.id, a.kind, a.subject, null::timestamptz as last_told_at, null::int as reminders
      from alerts a
      where a.closed_at is null
        and not exists (select 1 from alert_tellings t where t.channel = $1 and t.alert_id = a.id)
      order by a.id limit ${MOST_ALERTS})
     union all
     (select case when a.closed_at is null then 'told' else 'recovered' end, a.id, a.kind, a.subject,
             t.last_told_at, t.reminders
      from alert_tellings t join alerts a on a.id = t.alert_id
      where t.channel = $1 and not t.over
      order by a.id limit ${MOST_ALERTS})`,
    [channel],
  );
  const paced = await db.query<{ paced_until: Date | null }>(
    'select paced_until from alert_channels where channel = $1',
    [channel],
  );
  const alert = ({ id, kind, subject }: Row): Alert => ({ id: id.toString(), kind, subject });
  return {
    untold: rows.filter((row) => row.state === 'untold').map(alert),
    told: rows
      .filter((row) => row.state === 'told')
      .map((row) => ({
        ...alert(row),
        lastToldAt: row.last_told_at?.getTime() ?? 0,
        reminders: row.reminders ?? 0,
      })),
    recovered: rows.filter((row) => row.state === 'recovered').map(alert),
    pacedUntil: paced.rows[0]?.paced_until?.getTime() ?? 0,
  };
}

import type { AlertKind, AlertSubject } from '../domain/plan-alerts.ts';
import type { Db } from './pool.ts';

/** Raises an alert that is about no dead letter (those raise theirs by themselves); one that is open is only seen again. */
export async function raiseAlert(
  db: Db,
  alert: { readonly key: string; readonly kind: AlertKind; readonly subject: AlertSubject },
): Promise<void> {
  await db.query(
    `insert into alerts (key, kind, subject) values ($1, $2, $3)
     on conflict (key) where closed_at is null do update set seen_at = now()`,
    [alert.key, alert.kind, JSON.stringify(alert.subject)],
  );
}

/** The trouble is over by itself; nothing where none is open. */
export async function closeAlert(db: Db, key: string): Promise<void> {
  await db.query(
    `update alerts set closed_at = now(), outcome = 'recovered', handed_over_at = null
     where key = $1 and closed_at is null`,
    [key],
  );
}

/**
 * What was raised by being seen, and has not been seen for a day, may be over without anybody having noticed: an account that is not
 * called any more, say. Those of dead letters stay until their letter closes.
 */
export async function closeAgedAlerts(db: Db): Promise<void> {
  await db.query(
    `update alerts set closed_at = now(), outcome = 'aged'
     where closed_at is null and kind = 'credentials_refused' and seen_at < now() - interval '1 day'`,
  );
}

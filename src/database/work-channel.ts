import pg from 'pg';

/** Wakes the relays of all processes: a hint that is worth a round trip less, never a promise. Polling finds everything. */
export interface WorkChannel {
  /** There is something in the inbox or the outbox. Cheap, and never fails. */
  announce(): void;
  close(): Promise<void>;
}

const CHANNEL = 'paidonce_work';
/** NOTIFY takes a lock of the whole instance until its commit: one for many, and never inside a transaction of ours. */
const AT_MOST_EVERY_MS = 50;
/** The connection broke; polling goes on meanwhile. */
const RECONNECT_MS = 1_000;

/**
 * A connection of its own for LISTEN and NOTIFY, which a pooler in transaction mode cannot carry.
 *
 * @param onWork called when another process, or this one, has announced work
 */
export function openWorkChannel(url: string, onWork: () => void): WorkChannel {
  let client: pg.Client | null = null;
  let closed = false;
  let due: NodeJS.Timeout | null = null;
  let retry: NodeJS.Timeout | null = null;

  function connect(): void {
    const fresh = new pg.Client({ connectionString: url, application_name: 'paidonce-work', keepAlive: true });
    let lost = false;
    const lose = () => {
      if (lost) return;
      lost = true;
      if (client === fresh) client = null;
      fresh.end().catch(ignore);
      if (!closed) retry = setTimeout(connect, RECONNECT_MS).unref();
    };
    fresh.on('error', lose);
    fresh.on('end', lose);
    fresh.on('notification', onWork);
    fresh
      .connect()
      .then(() => fresh.query(`listen ${CHANNEL}`))
      .then(() => {
        client = fresh;
        // Whatever was announced while nobody listened.
        onWork();
      }, lose);
  }
  connect();

  return {
    announce() {
      if (due !== null || closed) return;
      due = setTimeout(() => {
        due = null;
        client?.query(`notify ${CHANNEL}`).catch(ignore);
      }, AT_MOST_EVERY_MS);
      due.unref();
    },
    async close() {
      closed = true;
      if (due !== null) clearTimeout(due);
      if (retry !== null) clearTimeout(retry);
      await client?.end().catch(ignore);
    },
  };
}

/** Polling does without. */
function ignore(): void {}

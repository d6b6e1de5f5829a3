import type { Faults } from './faults.ts';
import { sendWebhook } from './send-webhook.ts';
import type { Delivery, SentEvent, State } from './state.ts';

/** Enough to keep a receiver busy over several processes, few enough to leave a laptop its other work. */
const PARALLEL = 32;
/** With the waits below, about a quarter of an hour: a restart of the receiver is far shorter. */
const MOST_ATTEMPTS = 40;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;
/** Between the copies of one repeated event: some arrive together with the first, some after it was answered. */
const REPEAT_WITHIN: readonly [number, number] = [0, 600];

export interface Deliveries {
  /** The copies in which the event goes out, as rows to be committed with it, then given to `start`. */
  plan(event: SentEvent, wanted: { readonly deliver: boolean; readonly times: number }): Delivery[];
  /** From when on the event stands in the list of what was sent; nothing: at once. */
  listedFrom(event: SentEvent): Pick<SentEvent, 'listed_at'>;
  start(deliveries: readonly Delivery[]): void;
  /** Another `times` copies of an event that was sent before. */
  redeliver(event: SentEvent, times: number): void;
  pending(): Delivery[];
  counts(): Record<'attempts' | Delivery['state'], number>;
  /** Whether nothing is on its way or waits to be. */
  idle(): boolean;
  /** Forgets what is on its way. */
  clear(): void;
  close(): Promise<void>;
}

interface Dependencies {
  readonly state: State;
  readonly faults: Faults;
  /** Null: events are recorded and go nowhere. */
  readonly target: { readonly url: string; readonly secret: string } | null;
}

/** Webhooks, at least once: each copy is sent until the receiver says 2xx, or a bounded number of times. */
export function createDeliveries({ state, faults, target }: Dependencies): Deliveries {
  const timers = new Map<string, NodeJS.Timeout>();
  const due: string[] = [];
  const underWay = new Map<string, Promise<void>>();
  let stop = new AbortController();

  function put(delivery: Delivery): void {
    state.commit(['deliveries', delivery]);
  }

  function wait(delivery: Delivery): void {
    const timer = setTimeout(() => {
      timers.delete(delivery.id);
      due.push(delivery.id);
      pump();
    }, delivery.due_at - Date.now());
    timers.set(delivery.id, timer);
  }

  function pump(): void {
    while (underWay.size < PARALLEL) {
      const id = due.shift();
      if (id === undefined) break;
      const sent = send(id).finally(() => {
        underWay.delete(id);
        pump();
      });
      underWay.set(id, sent);
    }
  }

  async function send(id: string): Promise<void> {
    const before = state.deliveries.get(id);
    const event = before && state.events.get(before.event_id);
    if (!before || !event || !target) return;
    const { signal } = stop;
    const result = await sendWebhook(event, target, signal);
    // Stopped or reset meanwhile: the row stays pending for the next process, or is gone.
    if (signal.aborted) return;
    const ackLost = result.acknowledged && faults.meets('lose_ack', namesOf(event)) !== null;
    const attempts = before.attempts + 1;
    const now = { ...before, attempts, last: ackLost ? 'ack lost' : result.last };
    if (result.acknowledged && !ackLost) put({ ...now, state: 'acknowledged' });
    else if (attempts >= MOST_ATTEMPTS) put({ ...now, state: 'given_up' });
    else {
      const backoff = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
      const delay = Math.min(result.retryAfterMs ?? backoff, LONGEST_RETRY_MS);
      const again: Delivery = { ...now, due_at: Date.now() + delay };
      put(again);
      wait(again);
    }
  }

  function copies(event: SentEvent, times: number, dueAt: (copy: number) => number): Delivery[] {
    const known = state.deliveries.by('event', event.id).length;
    return Array.from({ length: times }, (_, copy) => ({
      id: `${event.id}/${known + copy}`,
      event_id: event.id,
      state: 'pending' as const,
      attempts: 0,
      due_at: dueAt(copy),
      last: null,
    }));
  }

  return {
    plan(event, { deliver, times }) {
      const names = namesOf(event);
      if (!target || !deliver) return [];
      if (faults.meets('drop', names))
        return copies(event, 1, () => Date.now()).map((row) => ({ ...row, state: 'dropped' }));
      const delay = faults.meets('delay_ms', names);
      const reorder = faults.meets('reorder', names);
      const repeat = faults.meets('repeat', names);
      const first =
        Date.now() +
        (delay === null ? 0 : faults.between('delay_ms', delay.ms)) +
        (reorder === null ? 0 : faults.between('reorder', reorder.ms));
      const repeats = repeat === null ? 0 : faults.between('repeat', [1, repeat.times]);
      return copies(
        event,
        times + repeats,
        (copy) => first + (copy < times ? 0 : faults.between('repeat', REPEAT_WITHIN)),
      );
    },
    listedFrom(event) {
      const late = faults.meets('list_late', namesOf(event));
      return late === null ? {} : { listed_at: Date.now() + faults.between('list_late', late.ms) };
    },
    start(deliveries) {
      for (const delivery of deliveries) if (target && delivery.state === 'pending') wait(delivery);
    },
    redeliver(event, times) {
      if (!target) return;
      const again = copies(event, times, () => Date.now());
      state.commit(...again.map((row) => ['deliveries', row] as const));
      again.forEach(wait);
    },
    pending: () => state.deliveries.all().filter((delivery) => delivery.state === 'pending'),
    counts() {
      const counts = { attempts: 0, pending: 0, acknowledged: 0, given_up: 0, dropped: 0 };
      for (const delivery of state.deliveries.all()) {
        counts.attempts += delivery.attempts;
        counts[delivery.state]++;
      }
      return counts;
    },
    idle: () => timers.size === 0 && due.length === 0 && underWay.size === 0,
    clear,
    async close() {
      clear();
      await Promise.all(underWay.values());
    },
  };

  function clear(): void {
    stop.abort();
    stop = new AbortController();
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
    due.length = 0;
  }
}

/** By which a fault may be limited to some events. */
function namesOf(event: SentEvent): string[] {
  return [event.type, event.type.split('.')[0] ?? event.type];
}

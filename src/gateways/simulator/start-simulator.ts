/**
 * The gateway simulator: a payment gateway of the `standard` protocol that can be as unreliable as real ones are.
 *
 * **The protocol** (`Authorization: Bearer`): POST /payments /charges /refunds /payouts, GET of each by id, by
 * `?reference=` (refunds also by `?payment_id=`), GET /events. A charge whose payment_method contains `declined` is
 * declined. Two creates with one reference are two objects, as at any gateway: only an Idempotency-Key makes them one.
 *
 * **The checkout page**: GET /checkout/{payment_id}; Pay a second time makes a second, captured payment of the order.
 *
 * **The controls** (JSON, no key):
 * - GET and PUT /sim/faults: see below. PUT replaces all; `{}` turns all off.
 * - POST /sim/payments `{payment_id?, order_id?, amount?, currency?, status = captured, reference?, mode?, return_url?}`:
 *   a payment in any state, and its event. Whatever sends an event also takes `deliver` (false: it is recorded and not
 *   sent) and `times` (copies sent side by side), and answers the `event_id`.
 * - POST /sim/payments/{id}/{capture|fail|expire|authorize}, /sim/refunds/{id}/{succeed|fail},
 *   /sim/payouts/{id}/{pay|fail}.
 * - POST /sim/refunds `{refund_id?, payment_id, amount, status = succeeded, reference?}`: a refund that somebody began
 *   with the gateway's own tools; no limit holds for it. POST /sim/disputes
 *   `{payment_id, dispute_id, status, amount?, fee?}`: an event about one.
 * - POST /sim/events `{id?, type, timestamp?, data}`: any event at all, signed. POST /sim/events/{id}/redeliver.
 * - GET /sim/state: every object, counts of deliveries, of calls, and of the faults they met.
 * - POST /sim/drain `?timeout_ms=`: waits until nothing is on its way; `{drained, pending}`. POST /sim/reset.
 *
 * **The faults.** Each is a chance from 0 to 1 (delays: `[min, max]` milliseconds), or an object with `chance`, `calls`
 * (a list of `payments charges refunds payouts events`, `reads`, `writes`, `refunds.writes` and so on; for webhooks the
 * event's type or its first word), `next` (only so many more times) and what is named here. `seed` decides all of them:
 * the n-th call of a kind meets the same faults in every run.
 * - webhooks: `repeat` {times}: further copies of the event · `reorder` {ms}: held back so that later ones overtake it ·
 *   `delay_ms` · `drop`: never sent, still in GET /events · `list_late`
 *   `[min, max]`: in GET /events only after so many milliseconds, and then in its old place · `lose_ack`: the receiver's 2xx is not heard.
 * - calls: `slow_ms`: nothing happens for a while, then all goes on · `rate_limit` {retry_after} · `error_before`
 *   {status}: a 5xx, and nothing was done · `error_after` {status}: a 5xx, and it was done · `lose_answer`
 *   {how: cut, half, garble, hang}: it was done, and the answer gets lost · `late_work` {how: cut, hang; after_ms}: done only
 *   after the caller gave up · `refuse` {status, code}: a definite no, kept under its key · `pending` {complete_ms or
 *   null}: the object begins as pending and ends well later, or by a control · `forget_keys`: the Idempotency-Key is
 *   not honoured. The last five, and `late_work`, concern writes unless `calls` says otherwise.
 */
import type { AddressInfo } from 'node:net';
import { createBank } from './bank.ts';
import { checkoutRoutes } from './checkout-routes.ts';
import { createCompletions } from './completions.ts';
import { controlRoutes } from './control-routes.ts';
import { createDeliveries } from './deliveries.ts';
import { createFaults, type FaultSettings } from './faults.ts';
import { createLater } from './later.ts';
import { createProtocolCall } from './protocol-call.ts';
import { protocolRoutes } from './protocol-routes.ts';
import { createRouter } from './router.ts';
import { openState } from './state.ts';

export interface SimulatorOptions {
  /** 0: any free one. It listens on 127.0.0.1 alone. */
  readonly port?: number;
  readonly apiKey: string;
  /** `whsec_` and base64. */
  readonly webhookSecret: string;
  /** Null: events are recorded and not sent. */
  readonly webhookUrl: string | null;
  readonly seed?: number;
  /** Null: everything is forgotten at the end. */
  readonly stateFile?: string | null;
}

export interface Simulator {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects with the system's error where the port is taken. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const state = openState(options.stateFile ?? null);
  const faults = createFaults(options.seed ?? 1, (value) => state.commit(['settings', { id: 'faults', value }]));
  const kept = state.settings.get('faults');
  if (kept) faults.set(kept.value as FaultSettings);
  const { webhookUrl, webhookSecret, apiKey } = options;
  const target = webhookUrl === null ? null : { url: webhookUrl, secret: webhookSecret };
  const deliveries = createDeliveries({ state, faults, target });
  const bank = createBank(state, deliveries);
  const later = createLater();
  const completions = createCompletions(state, bank, later);
  const calls = new Map<string, number>();
  let url = '';

  function onCall(name: string): void {
    calls.set(name, (calls.get(name) ?? 0) + 1);
  }

  function reset(): void {
    later.clear();
    deliveries.clear();
    calls.clear();
    state.clear();
    faults.set({ seed: options.seed ?? 1 });
  }

  const call = createProtocolCall({ apiKey, faults, later, onCall });
  const server = createRouter([
    ...protocolRoutes({ state, bank, faults, completions, call, url: () => url }),
    ...checkoutRoutes(state, bank),
    ...controlRoutes({ state, bank, faults, deliveries, later, calls, url: () => url, reset }),
  ]);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  deliveries.start(deliveries.pending());
  completions.resume();

  return {
    url,
    port,
    async close() {
      later.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, deliveries.close()]);
      state.close();
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command-error.ts';
import type { GatewayControls } from './gateway-controls.ts';
import { patientFetch } from './patient-fetch.ts';
import type { PlannedOrder, PlannedPayment, Storm } from './plan-storm.ts';

export interface Shop {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly gateway: GatewayControls;
}

export interface Driven {
  /** Calls that said that a browser came back, and what they heard. */
  readonly confirmed: Readonly<Record<string, number>>;
}

/** Customers at a time: enough that everything overlaps, few enough for a laptop that also runs all the servers. */
const AT_A_TIME = 16;
/** An early webhook is surely there before its order. */
const EARLY_MS = 300;

/** Lets all customers order and pay. `onPaid` is told of each order whose payments have happened at the gateway. */
export async function driveStorm(storm: Storm, shop: Shop, onPaid: () => void): Promise<Driven> {
  const confirmed: Record<string, number> = {};
  const waiting = [...storm.orders];
  async function customer(): Promise<void> {
    for (let planned = waiting.shift(); planned !== undefined; planned = waiting.shift()) {
      const heard = await placeAndPay(planned, shop);
      for (const outcome of heard) confirmed[outcome] = (confirmed[outcome] ?? 0) + 1;
      onPaid();
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, customer));
  return { confirmed };
}

async function placeAndPay(planned: PlannedOrder, shop: Shop): Promise<string[]> {
  const early = planned.fate === 'paid_before_it_exists';
  if (!early) await placeOrder(planned, shop);
  const heard: string[] = [];
  const payments = planned.payments.map((payment) => async () => {
    const paying = pay(payment, planned, shop);
    // The browser is back while the webhook is still on its way, or before it, or after.
    const coming = planned.confirms ? confirm(payment, shop).then((outcome) => heard.push(outcome)) : null;
    await Promise.all([paying, coming]);
  });
  if (planned.atOnce) await Promise.all(payments.map((payNow) => payNow()));
  else for (const payNow of payments) await payNow();
  if (early) {
    await delay(EARLY_MS);
    await placeOrder(planned, shop);
  }
  return heard;
}

async function placeOrder({ id, order }: PlannedOrder, { apiUrl, apiKey }: Shop): Promise<void> {
  const answer = await patientFetch({
    method: 'POST',
    url: `${apiUrl}/v1/orders`,
    headers: { authorization: `Bearer ${apiKey}`, 'idempotency-key': `order:${id}` },
    body: order,
  });
  if (answer.status !== 201) throw new CommandError(`The API refused order ${id}: ${JSON.stringify(answer.body)}`);
}

async function pay(payment: PlannedPayment, { id, order }: PlannedOrder, { gateway }: Shop): Promise<void> {
  await gateway.makePayment(payment, id, order.currency);
  for (const step of payment.steps.slice(1)) await gateway.movePayment(payment, step);
}

async function confirm(payment: PlannedPayment, { apiUrl, apiKey }: Shop): Promise<string> {
  const answer = await patientFetch({
    method: 'POST',
    url: `${apiUrl}/v1/payments/sim/${encodeURIComponent(payment.id)}/confirm`,
    headers: { authorization: `Bearer ${apiKey}` },
  });
  return (answer.body as { outcome?: string } | null)?.outcome ?? `http_${answer.status}`;
}

import { afterAll, beforeAll, expect, it } from 'vitest';
import { handOver } from '../../src/relay/hand-over.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';
import { eventually } from '../support/eventually.ts';

let lab: PaymentLab;
beforeAll(async () => {
  // Without the relay nothing sweeps up a signal that got lost.
  lab = await openPaymentLab({ relay: false });
});
afterAll(() => lab.close());

/** Payments side by side, and events of each, one at the heels of the other. */
const CHAINS = 5;
const ROUNDS = 100;

it(`loses no signal that lands while the run is completing (${CHAINS * ROUNDS} rounds)`, async () => {
  await Promise.all(Array.from({ length: CHAINS }, (_, chain) => chainOfEvents(`${chain}`)));
  const n = BigInt(CHAINS);
  expect(await lab.row(`select count(*) as n from processed_events`)).toEqual({ n: n * BigInt(ROUNDS) });
  expect(await lab.row(`select count(*) as n from bookings`)).toEqual({ n });
  expect(await lab.row(`select count(*) as n from state_transitions where machine = 'order'`)).toEqual({ n });
}, 400_000);

async function chainOfEvents(chain: string): Promise<void> {
  const [orderId, paymentId] = [`ord_${chain}`, `pay_${chain}`];
  await seedOrder(lab.db.pool, { id: orderId });
  await lab.pay(paymentId, orderId);
  for (let round = 0; round < ROUNDS; round += 1) {
    // The event before has just been committed as processed: its run is on its way out.
    const event = { source: 'sim', eventId: `evt_${chain}_${round}`, paymentId, orderId };
    await seedEvent(lab.db.pool, { ...event, id: event.eventId });
    await handOver({ client: lab.client.workflow, pool: lab.db.pool }, event);
    await eventually(`event ${event.eventId} is processed`, () =>
      lab.row(`select 1 from webhook_events where event_id = $1 and state = 'processed'`, event.eventId),
    );
  }
}

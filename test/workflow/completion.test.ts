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

const ROUNDS = 500;

it(`loses no signal that lands while the run is completing (${ROUNDS} rounds)`, async () => {
  await seedOrder(lab.db.pool, { id: 'ord_1' });
  await lab.pay('pay_1', 'ord_1');
  for (let round = 0; round < ROUNDS; round += 1) {
    // The event before has just been committed as processed: its run is on its way out.
    const event = { source: 'sim', eventId: `evt_${round}`, paymentId: 'pay_1', orderId: 'ord_1' };
    await seedEvent(lab.db.pool, { ...event, id: event.eventId });
    await handOver({ client: lab.client.workflow, pool: lab.db.pool }, event);
    await eventually(`event ${round} is processed`, () =>
      lab.row(`select 1 from webhook_events where event_id = $1 and state = 'processed'`, event.eventId),
    );
  }
  expect(await lab.row(`select count(*) as n from processed_events`)).toEqual({ n: BigInt(ROUNDS) });
  expect(await lab.row(`select count(*) as n from bookings`)).toEqual({ n: 1n });
  expect(await lab.row(`select count(*) as n from state_transitions where machine = 'order'`)).toEqual({ n: 1n });
}, 240_000);

import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyPayment, type PaymentToApply } from '../../src/database/apply-payment.ts';
import { readPaymentWork } from '../../src/database/read-payment-work.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import type { PaymentFacts } from '../../src/domain/gateway-facts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { facts, seedEvent, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Two attempts of one step, as when the first one took too long and was begun again: both read their work before either wrote. */
async function twoAttempts(
  paymentId: string,
  first: PaymentFacts | null,
  second: PaymentFacts | null,
  at = new Date(),
) {
  const { events } = await readPaymentWork(db.pool, 'sim', paymentId);
  const attempt = (shown: PaymentFacts | null): PaymentToApply => ({
    ...{ source: 'sim', mode: 'test', paymentId, events, callers: [], facts: shown, at },
    ...{ refunds: null, disputes: null },
    knownOrderId: shown?.orderId ?? null,
    policies: DEFAULT_POLICIES,
  });
  await applyPayment(db.pool, attempt(first));
  await applyPayment(db.pool, attempt(second));
}

const event = async (id: string) =>
  (
    await db.pool.query(
      `select e.state, e.outcome, e.attempts, g.outcome as gate from webhook_events e
       left join processed_events g on g.event_id = 'sim:' || e.event_id where e.event_id = $1`,
      [id],
    )
  ).rows[0];

it('an attempt that comes after its twin has committed leaves the outcome as it was decided', async () => {
  await seedOrder(db.pool, { id: 'ord_1' });
  await seedEvent(db.pool, { id: 'evt_1', paymentId: 'pay_1', orderId: 'ord_1' });
  await twoAttempts('pay_1', facts({ paymentId: 'pay_1' }), facts({ paymentId: 'pay_1' }));
  expect(await event('evt_1')).toEqual({
    state: 'processed',
    outcome: 'marked_paid',
    attempts: 0,
    gate: 'marked_paid',
  });
});

it.each<[string, PaymentFacts | null]>([
  ['does not know the payment yet', null],
  ['shows it as it was before', facts({ paymentId: 'pay_2', orderId: 'ord_2', status: 'pending' })],
])(
  'an event that was acted on does not wait again because a slower attempt saw a gateway that %s',
  async (how, stale) => {
    const id = how.length;
    const known = (shown: PaymentFacts | null) => shown && { ...shown, paymentId: `pay_${id}`, orderId: `ord_${id}` };
    await seedOrder(db.pool, { id: `ord_${id}` });
    await seedEvent(db.pool, { id: `evt_${id}`, paymentId: `pay_${id}`, orderId: `ord_${id}` });
    await twoAttempts(`pay_${id}`, known(facts({ paymentId: '' })), known(stale));
    expect(await event(`evt_${id}`)).toEqual({
      ...{ state: 'processed', outcome: 'marked_paid', attempts: 0, gate: 'marked_paid' },
    });
  },
);

import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { cancelOrder } from '../../src/database/cancel-order.ts';
import { readCheckout, recordPreparedPayment } from '../../src/database/checkout.ts';
import { createOrder } from '../../src/database/create-order.ts';
import { expireOrder } from '../../src/database/expire-order.ts';
import { giveUpMove } from '../../src/database/give-up-move.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { readMoneyMove } from '../../src/database/money-move.ts';
import { recordRefunds } from '../../src/database/record-refunds.ts';
import { reserveCheckout } from '../../src/database/reserve-checkout.ts';
import { storeDelivery } from '../../src/database/store-delivery.ts';
import { admitEvent } from '../../src/domain/admit-event.ts';
import type { EventReading } from '../../src/domain/event-reading.ts';
import { checkoutWorkflowId, refundWorkflowId } from '../../src/domain/keys.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { facts, look, refundFacts, type SeedLine } from './seed.ts';
import { seedDisputes } from './seed-storm-of-disputes.ts';
import { seedDecisions } from './seed-storm-of-decisions.ts';
import { seedMoves } from './seed-storm-of-moves.ts';

const ENROLMENT: readonly SeedLine[] = [{ id: 'l1', kind: 'enrolment', amount: 10_000n }];
const EVERYTHING: readonly SeedLine[] = [
  { id: 'course', kind: 'enrolment', amount: 5_000n },
  { id: 'card', kind: 'gift_card', amount: 3_001n, quantity: 2 },
  { id: 'pack', kind: 'package', amount: 1_000n, quantity: 3 },
  { id: 'book', kind: 'product', amount: 999n },
];

/** An order as the API makes it. */
async function makeOrder(
  pool: Pool,
  order: { id: string; currency?: string; lines?: readonly SeedLine[]; expiresAt?: Date },
): Promise<void> {
  const lines = order.lines ?? ENROLMENT;
  await inTransaction(pool, (tx) =>
    createOrder(tx, {
      id: order.id,
      currency: order.currency ?? 'EUR',
      amount: lines.reduce((sum, line) => sum + line.amount, 0n),
      customer: { id: 'cus_1', email: null, name: null },
      lines: lines.map(({ id, kind, amount, quantity }) => ({
        ...{ id, kind: kind as 'enrolment', amount, quantity: quantity ?? 1, reference: null },
      })),
      expiresAt: order.expiresAt ?? null,
      createdBy: 'test',
    }),
  );
}

/** A delivery as the receiver stores it; `about` fills what the gateway's adapter would read from the body. */
async function deliver(pool: Pool, about: Partial<EventReading> & { eventId: string }, body?: string): Promise<void> {
  const [subject = '', claimed = ''] = (about.eventType ?? 'payment.captured').split('.');
  const reading = {
    ...{
      verdict: 'take',
      reason: null,
      eventType: 'payment.captured',
      subject,
      claimed,
      paymentId: null,
      orderId: null,
    },
    ...{
      objectId: about.paymentId ?? null,
      amount: null,
      currency: null,
      fee: null,
      withheld: null,
      mode: 'test',
      occurredAt: null,
      reference: null,
    },
    ...about,
  } as EventReading;
  const payload = JSON.stringify(about, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  const bytes = Buffer.from(body ?? payload);
  const bodySha256 = createHash('sha256').update(bytes).digest();
  const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');
  const event = admitEvent({
    ...{ reading, sourceMode: 'test', isJson: true, ignoreBefore: null, sha256Hex },
    bodySha256Hex: bodySha256.toString('hex'),
  });
  await storeDelivery(pool, {
    ...{ source: 'sim', event, body: bytes, bodySha256, headers: '{}', remoteAddress: null },
    payload,
  });
}

/**
 * A database after a storm: orders and payments in every state that the product can leave them in, each brought about by
 * the product's own transactions.
 */
export async function seedStorm(pool: Pool): Promise<void> {
  await consequencesAndRepeats(pool);
  await refundsOfCountedMoney(pool);
  await extraAndLateCaptures(pool);
  await waitingAndHeld(pool);
  await withoutCapture(pool);
  const order = (id: string) => makeOrder(pool, { id });
  await seedMoves(pool, order);
  await seedDecisions(pool, order, (eventId, paymentId, orderId) => deliver(pool, { eventId, paymentId, orderId }));
  await seedDisputes(
    pool,
    (id, everything) => makeOrder(pool, { id, lines: everything === true ? EVERYTHING : ENROLMENT }),
    (eventId, paymentId, more) => deliver(pool, { eventId, paymentId, ...more }),
  );
}

async function consequencesAndRepeats(pool: Pool): Promise<void> {
  await makeOrder(pool, { id: 'ord_full', lines: EVERYTHING });
  for (const id of ['evt_1', 'evt_2', 'evt_1']) {
    await deliver(pool, { eventId: id, paymentId: 'pay:full', orderId: 'ord_full' });
    await look(pool, facts({ paymentId: 'pay:full', orderId: 'ord_full' }), { callers: [`confirm:${id}`] });
  }
  await deliver(pool, { eventId: 'evt_1', paymentId: 'pay:full', orderId: 'ord_full' }, '{"other":"bytes"}');
  await look(pool, facts({ paymentId: 'pay:full', orderId: 'ord_full' }));

  await makeOrder(pool, { id: 'ord_parts' });
  for (const [n, amount] of [4_000n, 6_000n].entries()) {
    await deliver(pool, { eventId: `evt_part_${n}`, paymentId: `pay_part_${n}`, orderId: 'ord_parts' });
    await look(pool, facts({ paymentId: `pay_part_${n}`, orderId: 'ord_parts', amount }));
  }
  await makeOrder(pool, { id: 'ord_part' });
  await look(pool, facts({ paymentId: 'pay_part', orderId: 'ord_part', amount: 1n }));

  await makeOrder(pool, { id: 'ord_yen', currency: 'JPY', lines: [{ id: 'l1', kind: 'product', amount: 500n }] });
  await look(pool, facts({ paymentId: 'pay_yen', orderId: 'ord_yen', amount: 500n, currency: 'JPY' }));
}

async function refundsOfCountedMoney(pool: Pool): Promise<void> {
  for (const id of ['surplus', 'refunded', 'returned', 'exceeded']) {
    await makeOrder(pool, { id: `ord_${id}`, lines: EVERYTHING });
    const amount = id === 'surplus' ? 12_000n : 10_000n;
    await look(pool, facts({ paymentId: `pay_${id}`, orderId: `ord_${id}`, amount }));
  }
  const refunded = async (id: string, amount: bigint, status: 'succeeded' | 'failed' = 'succeeded', n = 1) =>
    look(pool, facts({ paymentId: `pay_${id}`, orderId: `ord_${id}` }), {
      refunds: [refundFacts({ refundId: `rf_${id}_${n}`, paymentId: `pay_${id}`, amount, status })],
    });
  await refunded('surplus', 3_000n);
  await deliver(pool, {
    eventId: 'evt_refunded',
    eventType: 'refund.succeeded',
    objectId: 'rf_refunded_1',
    paymentId: 'pay_refunded',
  });
  await refunded('refunded', 4_000n);
  await refunded('refunded', 6_000n, 'succeeded', 2);
  await refunded('returned', 10_000n);
  await refunded('returned', 10_000n, 'failed');
  await refunded('exceeded', 9_000n);
  await refunded('exceeded', 2_000n, 'succeeded', 2);
}

async function extraAndLateCaptures(pool: Pool): Promise<void> {
  for (const id of ['done', 'open', 'doubt', 'refused']) {
    await makeOrder(pool, { id: `ord_${id}` });
    for (const n of [1, 2]) {
      await deliver(pool, { eventId: `evt_${id}_${n}`, paymentId: `pay_${id}_${n}`, orderId: `ord_${id}` });
      await look(pool, facts({ paymentId: `pay_${id}_${n}`, orderId: `ord_${id}` }));
    }
  }
  const refund = await readMoneyMove(pool, 'refund', 'extra_capture:sim:pay_doubt_2');
  const refused = await readMoneyMove(pool, 'refund', 'extra_capture:sim:pay_refused_2');
  if (refund === null || refused === null) throw new Error('An extra capture reserves its refund.');
  await giveUpMove(pool, refund, 'unknown', { code: null, message: 'no answer' });
  await giveUpMove(pool, refused, 'rejected', { code: 'insufficient_balance', message: 'no money' });
  await refundedByUs(pool, 'extra_capture:sim:pay_done_2', 'pay_done_2', 'ord_done');

  await makeOrder(pool, { id: 'ord_cancelled' });
  await look(pool, facts({ paymentId: 'pay_cancelled', orderId: 'ord_cancelled', amount: 4_000n }));
  await cancelOrder(pool, { orderId: 'ord_cancelled', policies: DEFAULT_POLICIES, cause: 'test' });
  await refundedByUs(pool, 'late_capture:sim:pay_cancelled', 'pay_cancelled', 'ord_cancelled', 4_000n);
  await look(pool, facts({ paymentId: 'pay_late', orderId: 'ord_cancelled' }));
  await look(pool, facts({ paymentId: 'pay_review', orderId: 'ord_cancelled' }), {
    policies: { lateCapture: 'review' },
  });

  await makeOrder(pool, { id: 'ord_expired', expiresAt: new Date(Date.now() - 7_200_000) });
  await look(pool, facts({ paymentId: 'pay_expired', orderId: 'ord_expired', amount: 4_000n }));
  const policies = { ...DEFAULT_POLICIES, lateCapture: 'review' } as const;
  await expireOrder(pool, { orderId: 'ord_expired', at: new Date(), policies });
}

async function refundedByUs(
  pool: Pool,
  id: string,
  paymentId: string,
  orderId: string,
  amount = 10_000n,
): Promise<void> {
  const reference = refundWorkflowId(id);
  await recordRefunds(pool, {
    ...{ source: 'sim', paymentId, orderId, cause: reference, policies: DEFAULT_POLICIES, answered: reference },
    facts: [refundFacts({ refundId: `rf_of_${paymentId}`, paymentId, amount, reference })],
  });
}

async function waitingAndHeld(pool: Pool): Promise<void> {
  await deliver(pool, { eventId: 'evt_early', paymentId: 'pay_early', orderId: 'ord_later' });
  await look(pool, facts({ paymentId: 'pay_early', orderId: 'ord_later' }));
  for (const id of ['lost', 'found']) {
    await deliver(pool, { eventId: `evt_${id}`, paymentId: `pay_${id}`, orderId: `ord_${id}` });
    await look(pool, facts({ paymentId: `pay_${id}`, orderId: `ord_${id}` }), {
      at: new Date(Date.now() + 25 * 3_600_000),
    });
  }
  await makeOrder(pool, { id: 'ord_found' });
  await look(pool, facts({ paymentId: 'pay_found', orderId: 'ord_found' }));

  await makeOrder(pool, { id: 'ord_currency' });
  await deliver(pool, { eventId: 'evt_currency', paymentId: 'pay_currency', orderId: 'ord_currency' });
  await look(pool, facts({ paymentId: 'pay_currency', orderId: 'ord_currency', currency: 'USD' }));
  await deliver(pool, { eventId: 'evt_no_amount', paymentId: 'pay_no_amount' });
  await look(pool, facts({ paymentId: 'pay_no_amount', orderId: null, amount: null }));
  await deliver(pool, { eventId: 'evt_unknown', paymentId: 'pay_unknown' });
  await look(pool, { paymentId: 'pay_unknown', unknown: true });
  await deliver(pool, { eventId: 'evt_unreadable', verdict: 'hold', reason: 'It names no payment.' });
  await deliver(pool, { eventId: 'evt_ignored', verdict: 'ignore', reason: 'unknown type', paymentId: 'pay_full' });
}

async function withoutCapture(pool: Pool): Promise<void> {
  for (const status of ['failed', 'expired', 'pending', 'authorized'] as const) {
    await makeOrder(pool, { id: `ord_${status}_only` });
    await deliver(pool, {
      eventId: `evt_${status}`,
      eventType: `payment.${status}`,
      paymentId: `pay_${status}`,
      orderId: `ord_${status}_only`,
    });
    await look(pool, facts({ paymentId: `pay_${status}`, orderId: `ord_${status}_only`, status }));
  }
  await makeOrder(pool, { id: 'ord_checkout' });
  await inTransaction(pool, (tx) => reserveCheckout(tx, { orderId: 'ord_checkout', source: 'sim', returnUrl: null }));
  const checkout = await readCheckout(pool, 'ord_checkout', 1);
  if (checkout === null) throw new Error('A reserved checkout can be read.');
  const reference = checkoutWorkflowId('ord_checkout', 1);
  const payment = facts({ paymentId: 'pay_checkout', orderId: 'ord_checkout', status: 'pending', reference });
  await recordPreparedPayment(pool, checkout, { payment, checkoutUrl: 'https://pay.example/1', clientSecret: null });
}

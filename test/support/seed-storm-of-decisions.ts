import type { Pool } from 'pg';
import { cancelOrder } from '../../src/database/cancel-order.ts';
import { decideDeadLetter, type Decision } from '../../src/database/decide-dead-letter.ts';
import { deadLetterId } from '../../src/domain/keys.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { facts, look } from './seed.ts';
import {
  payoutIs,
  lookAtCard,
  placeCard,
  refundIs,
  seedCard,
  seedEnd,
  seedPayout,
  seedRefund,
} from './seed-storm-of-moves.ts';

type Deliver = (eventId: string, paymentId: string, orderId: string) => Promise<void>;

/** A person decides, as the API lets them. */
async function decide(
  pool: Pool,
  deadLetterId: string,
  action: Decision['action'],
  more: Partial<Pick<Decision, 'outcome' | 'gatewayId'>> = {},
): Promise<void> {
  const decision = { deadLetterId, action, note: 'because', outcome: null, gatewayId: null, by: 'ops', ...more };
  const done = await decideDeadLetter(pool, decision, DEFAULT_POLICIES);
  if (done.result !== 'decided') throw new Error(`${deadLetterId}: ${JSON.stringify(done)}`);
}

/** Everything that a person can decide, and what comes after. */
export async function seedDecisions(pool: Pool, order: (id: string) => Promise<void>, deliver: Deliver): Promise<void> {
  await heldPayments(pool, order, deliver);
  await refunds(pool, order);
  await payouts(pool);
  await cards(pool, order);
}

async function heldPayments(pool: Pool, order: (id: string) => Promise<void>, deliver: Deliver): Promise<void> {
  const review = { policies: { lateCapture: 'review' } } as const;
  const late = async (name: string, amount = 10_000n) => {
    const about = { paymentId: `pay_${name}`, orderId: `ord_${name}` };
    await order(about.orderId);
    await cancelOrder(pool, { orderId: about.orderId, policies: DEFAULT_POLICIES, cause: 'test' });
    await deliver(`evt_${name}`, about.paymentId, about.orderId);
    await look(pool, facts({ ...about, amount }), review);
  };
  await late('revived');
  await decide(pool, 'late_capture:sim:pay_revived', 'accept');
  await look(pool, facts({ paymentId: 'pay_revived', orderId: 'ord_revived' }), review);
  await late('half_revived', 4_000n);
  await decide(pool, 'late_capture:sim:pay_half_revived', 'accept');
  await late('too_late');
  await decide(pool, 'late_capture:sim:pay_too_late', 'refund');
  await refundIs(pool, 'late_capture:sim:pay_too_late', 'succeeded');
  await late('let_be');
  await decide(pool, 'late_capture:sim:pay_let_be', 'give_up');

  // What counted for a cancelled order was on its way back when another payment of it was accepted.
  await order('ord_back_again');
  await look(pool, facts({ paymentId: 'pay_first_part', orderId: 'ord_back_again', amount: 4_000n }));
  await cancelOrder(pool, { orderId: 'ord_back_again', policies: DEFAULT_POLICIES, cause: 'test' });
  await look(pool, facts({ paymentId: 'pay_all_of_it', orderId: 'ord_back_again' }), review);
  await decide(pool, 'late_capture:sim:pay_all_of_it', 'accept');
  await refundIs(pool, 'late_capture:sim:pay_first_part', 'succeeded');

  const aDayLater = { at: new Date(Date.now() + 25 * 3_600_000) };
  for (const name of ['nobody', 'nothing']) {
    await deliver(`evt_${name}`, `pay_${name}`, `ord_${name}`);
    await look(pool, facts({ paymentId: `pay_${name}`, orderId: `ord_${name}` }), aDayLater);
  }
  await decide(pool, 'unmatched_payment:sim:pay_nobody', 'refund');
  await refundIs(pool, 'late_capture:sim:pay_nobody', 'succeeded');
  await look(pool, facts({ paymentId: 'pay_nobody', orderId: 'ord_nobody' }));
  await decide(pool, 'unmatched_payment:sim:pay_nothing', 'give_up');

  await order('ord_yuan');
  await deliver('evt_yuan', 'pay_yuan', 'ord_yuan');
  await look(pool, facts({ paymentId: 'pay_yuan', orderId: 'ord_yuan', currency: 'CNY' }));
  await decide(pool, 'wrong_currency:sim:pay_yuan', 'refund');
  await refundIs(pool, 'late_capture:sim:pay_yuan', 'succeeded');
}

async function refunds(pool: Pool, order: (id: string) => Promise<void>): Promise<void> {
  const refund = async (name: string) => {
    await order(`ord_${name}`);
    await look(pool, facts({ paymentId: `pay_${name}`, orderId: `ord_${name}` }));
    await seedRefund(pool, `rf_${name}`, `pay_${name}`, 4_000n);
  };
  for (const outcome of ['succeeded', 'failed'] as const) {
    await refund(`seen_${outcome}`);
    await seedEnd(pool, 'refund', `rf_seen_${outcome}`, 'unknown');
    await decide(pool, `outcome_unknown:rf_seen_${outcome}`, 'resolve', { outcome, gatewayId: `seen_${outcome}` });
  }
  await refund('repaired');
  await seedEnd(pool, 'refund', 'rf_repaired', 'rejected');
  await decide(pool, 'refund_failed:rf_repaired', 'retry');
  await refundIs(pool, 'rf_repaired', 'succeeded');
  await refund('second_try');
  await refundIs(pool, 'rf_second_try', 'failed', 'rf_try_1');
  await decide(pool, 'refund_failed:rf_second_try', 'retry');
  await refundIs(pool, 'rf_second_try', 'succeeded', 'rf_try_2');
  await refund('left');
  await seedEnd(pool, 'refund', 'rf_left', 'unknown');
  await decide(pool, 'outcome_unknown:rf_left', 'give_up');
}

async function payouts(pool: Pool): Promise<void> {
  // The bank sent it back twice before it arrived.
  const returned = await seedPayout(pool, 'stubborn');
  for (const attempt of [1, 2, 3]) {
    await payoutIs(pool, returned, 'paid', `po_stubborn_${attempt}`);
    if (attempt === 3) break;
    await payoutIs(pool, returned, 'failed', `po_stubborn_${attempt}`);
    await decide(pool, deadLetterId('payout_failed', `payout:${returned}`), 'retry');
  }
  for (const outcome of ['succeeded', 'failed'] as const) {
    const id = await seedPayout(pool, `seen_${outcome}`);
    await seedEnd(pool, 'payout', id, 'unknown');
    await decide(pool, deadLetterId('outcome_unknown', `payout:${id}`), 'resolve', { outcome });
  }
  const left = await seedPayout(pool, 'left');
  await seedEnd(pool, 'payout', left, 'rejected');
  await decide(pool, deadLetterId('payout_failed', `payout:${left}`), 'give_up');
}

async function cards(pool: Pool, order: (id: string) => Promise<void>): Promise<void> {
  await order('ord_seen_charge');
  const charge = await seedCard(pool, 'charge', 'seen_charge');
  await seedEnd(pool, 'charge', charge, 'unknown');
  await decide(pool, deadLetterId('outcome_unknown', `charge:${charge}`), 'resolve', { outcome: 'failed' });
  const topUp = await seedCard(pool, 'top_up', 'found_again');
  await seedEnd(pool, 'top_up', topUp, 'unknown');
  await decide(pool, deadLetterId('outcome_unknown', `top_up:${topUp}`), 'retry');
  await placeCard(pool, 'top_up', topUp);
  await lookAtCard(pool, 'top_up', topUp, {});
}

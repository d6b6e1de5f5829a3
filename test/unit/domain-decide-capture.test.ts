import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideCapture,
  outcomeForOthers,
  type CaptureDecision,
  type CaptureToDecide,
} from '../../src/domain/decide-capture.ts';
import { ORDER_STATUSES, PAYABLE_ORDER_STATUSES, type OrderStatus } from '../../src/domain/order-states.ts';
import { PAYMENT_OUTCOMES } from '../../src/domain/payment-outcome.ts';

const DUE = 10_000n;
const PAID_BEFORE = 4_000n;

/** Every case that can be told apart: the amounts lie below, at and above what is still due. */
const CASES: CaptureToDecide[] = [];
for (const status of [null, ...ORDER_STATUSES])
  for (const counted of [false, true])
    for (const automaticRefund of [null, 'extra_capture', 'late_capture'] as const)
      for (const currency of ['EUR', 'USD'])
        for (const lateCapture of ['refund', 'review'] as const)
          for (const amount of [1n, 5_999n, 6_000n, 6_001n, 20_000n]) {
            const order = status && { status, currency: 'EUR', amountDue: DUE, amountPaid: PAID_BEFORE };
            CASES.push({
              order,
              capture: { amount, currency },
              counted,
              automaticRefund,
              lateCapture,
              otherMode: false,
            });
          }

interface Decided {
  readonly about: CaptureToDecide;
  readonly decision: CaptureDecision;
}

/** What is decided in the cases that meet the condition; there must be some. */
function decisions(condition: (about: CaptureToDecide) => boolean): Decided[] {
  const met = CASES.filter(condition).map((about) => ({ about, decision: decideCapture(about) }));
  expect(met).not.toHaveLength(0);
  return met;
}

const isNew = (c: CaptureToDecide) => !c.counted && c.automaticRefund === null;
const isFor = (c: CaptureToDecide, ...statuses: readonly OrderStatus[]) =>
  c.order !== null && statuses.includes(c.order.status);
const sameCurrency = (c: CaptureToDecide) => c.capture.currency === c.order?.currency;

describe('a capture', () => {
  it('of a payment that counts is never given back, whatever its order looks like by now', () => {
    for (const { decision } of decisions((c) => c.counted)) {
      expect(decision).toEqual({ action: 'nothing', outcome: 'already_paid_same_payment' });
    }
  });

  it('of a payment that is being given back is decided already, and stays so whatever its order looks like by now', () => {
    for (const { about, decision } of decisions((c) => !c.counted && c.automaticRefund !== null)) {
      const outcome = about.automaticRefund === 'extra_capture' ? 'extra_payment' : 'not_payable';
      expect(decision).toEqual({ action: 'nothing', outcome });
    }
  });

  it('before its order waits for it', () => {
    for (const { decision } of decisions((c) => isNew(c) && c.order === null)) {
      expect(decision).toEqual({ action: 'wait_for_order' });
    }
  });

  it('on a paid order is extra and given back, whatever its amount, its currency and the policy for late ones', () => {
    for (const { decision } of decisions((c) => isNew(c) && isFor(c, 'paid'))) {
      expect(decision).toEqual({ action: 'refund', outcome: 'extra_payment', kind: 'extra_capture' });
    }
  });

  it('on a cancelled or expired order is given back or put before a person, as the policy says, in any currency', () => {
    for (const { about, decision } of decisions((c) => isNew(c) && isFor(c, 'cancelled', 'expired'))) {
      expect(decision).toEqual(
        about.lateCapture === 'refund'
          ? { action: 'refund', outcome: 'not_payable', kind: 'late_capture' }
          : { action: 'hold', outcome: 'held_for_review', kind: 'late_capture' },
      );
    }
  });

  it('in another currency than what is due is put before a person, and counts for nothing', () => {
    for (const { decision } of decisions((c) => isNew(c) && isFor(c, ...PAYABLE_ORDER_STATUSES) && !sameCurrency(c))) {
      expect(decision).toEqual({ action: 'hold', outcome: 'held_for_review', kind: 'wrong_currency' });
    }
  });

  it('in the right currency counts, and pays the order exactly if the sum reaches what is due', () => {
    for (const { about, decision } of decisions(
      (c) => isNew(c) && isFor(c, ...PAYABLE_ORDER_STATUSES) && sameCurrency(c),
    )) {
      const reaches = PAID_BEFORE + about.capture.amount >= DUE;
      expect(decision).toEqual({ action: 'count', outcome: reaches ? 'marked_paid' : 'partially_paid' });
    }
  });

  it('is never forgotten: nothing is done only about one that counts or is being given back', () => {
    for (const { about, decision } of decisions(() => true)) {
      expect(decision.action === 'nothing').toBe(!isNew(about));
    }
  });
});

interface World {
  status: OrderStatus;
  paid: bigint;
  readonly counted: Set<string>;
  readonly refunded: Map<string, 'extra_capture' | 'late_capture'>;
  readonly held: Set<string>;
}

/** What the money transaction does with a decision, without a database. */
function carryOut(world: World, payment: Payment): void {
  // It waits for a person, whatever is looked at meanwhile.
  if (world.held.has(payment.id)) return;
  const decision = decideCapture({
    order: { status: world.status, currency: 'EUR', amountDue: DUE, amountPaid: world.paid },
    capture: payment,
    counted: world.counted.has(payment.id),
    automaticRefund: world.refunded.get(payment.id) ?? null,
    lateCapture: payment.lateCapture,
    otherMode: false,
  });
  if (decision.action === 'count') {
    world.paid += payment.amount;
    world.counted.add(payment.id);
    world.status = decision.outcome === 'marked_paid' ? 'paid' : 'partially_paid';
  }
  if (decision.action === 'refund') world.refunded.set(payment.id, decision.kind);
  if (decision.action === 'hold') world.held.add(payment.id);
}

interface Payment {
  readonly id: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly lateCapture: 'refund' | 'review';
}

const payments = fc
  .array(
    fc.record({
      amount: fc.bigInt({ min: 1n, max: 12_000n }),
      currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'USD'),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((list) => list.map((p, i) => ({ ...p, id: `pay_${i}`, lateCapture: 'refund' as const })));

/** Each payment is looked at once to three times, in any order. */
const looks = payments.chain((list) => {
  const thrice = [...list, ...list, ...list];
  return fc
    .shuffledSubarray(thrice, { minLength: 0 })
    .chain((some) => fc.shuffledSubarray([...list, ...some], { minLength: list.length + some.length }))
    .map((order) => ({ list, order }));
});

describe('several payments of one order, looked at in any order and any number of times', () => {
  it('leave each of them counted, given back or held: never two of these, never none', () => {
    fc.assert(
      fc.property(looks, fc.option(fc.nat(10), { nil: null }), ({ list, order }, cancelAt) => {
        const world = freshWorld();
        order.forEach((payment, i) => {
          if (i === cancelAt && PAYABLE_ORDER_STATUSES.includes(world.status)) world.status = 'cancelled';
          carryOut(world, payment);
        });
        for (const { id } of list) {
          const fates = [world.counted.has(id), world.refunded.has(id), world.held.has(id)].filter(Boolean);
          expect(fates).toHaveLength(1);
        }
      }),
    );
  });

  it('pay it exactly if what counts reaches what is due, and nothing counts beyond the one that reaches it', () => {
    fc.assert(
      fc.property(looks, ({ list, order }) => {
        const world = freshWorld();
        for (const payment of order) carryOut(world, payment);
        const counted = list.filter(({ id }) => world.counted.has(id));
        const sum = counted.reduce((total, { amount }) => total + amount, 0n);
        expect(world.paid).toBe(sum);
        expect(world.status === 'paid').toBe(sum >= DUE);
        if (sum >= DUE) expect(counted.some(({ amount }) => sum - amount < DUE)).toBe(true);
        expect(counted.every(({ currency }) => currency === 'EUR')).toBe(true);
        // Whether the order is paid does not depend on who came first.
        const all = list.filter((p) => p.currency === 'EUR').reduce((total, { amount }) => total + amount, 0n);
        expect(world.status === 'paid').toBe(all >= DUE);
      }),
    );
  });
});

function freshWorld(): World {
  return { status: 'pending_payment', paid: 0n, counted: new Set(), refunded: new Map(), held: new Set() };
}

describe('the outcome of a payment', () => {
  it('goes to one of its callers and events, and all others hear that it was that payment', () => {
    expect(outcomeForOthers('marked_paid')).toBe('already_paid_same_payment');
    expect(outcomeForOthers('partially_paid')).toBe('already_paid_same_payment');
  });

  it('that paid nothing is the same for all', () => {
    for (const outcome of PAYMENT_OUTCOMES) {
      if (outcome !== 'marked_paid' && outcome !== 'partially_paid') expect(outcomeForOthers(outcome)).toBe(outcome);
    }
  });
});

it('of the other mode than its order is before a person, whatever the order is, and is never counted nor given back', () => {
  for (const about of CASES.filter((c) => isNew(c) && c.order !== null)) {
    expect(decideCapture({ ...about, otherMode: true })).toEqual({
      ...{ action: 'hold', outcome: 'held_for_review', kind: 'order_not_payable' },
    });
  }
});

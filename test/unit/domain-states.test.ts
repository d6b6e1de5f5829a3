import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CANCELLABLE_ORDER_STATUSES,
  ORDER_STATUSES,
  PAYABLE_ORDER_STATUSES,
  unpaidOrderStatus,
} from '../../src/domain/order-states.ts';
import {
  isOpenPayment,
  PAYMENT_STATUSES,
  PAYMENT_TRANSITIONS,
  paymentReaches,
  type PaymentStatus,
} from '../../src/domain/payment-states.ts';
import {
  HOLDING_REFUND_STATUSES,
  REFUND_STATUSES,
  REFUND_TRANSITIONS,
  refundMayBecome,
} from '../../src/domain/refund-states.ts';

describe.each([
  ['payment', PAYMENT_STATUSES, PAYMENT_TRANSITIONS],
  ['refund', REFUND_STATUSES, REFUND_TRANSITIONS],
] as const)('the table of the %s', (_, statuses: readonly string[], table: Record<string, Record<string, string>>) => {
  it('has a row for every status and for nothing else', () => {
    expect(Object.keys(table).sort()).toEqual([...statuses].sort());
  });

  it('leads only to statuses that have a row, each by a transition with a name, and never to where it is', () => {
    for (const [from, row] of Object.entries(table)) {
      for (const [to, name] of Object.entries(row)) {
        expect(statuses).toContain(to);
        expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
        expect(to).not.toBe(from);
      }
    }
  });
});

describe('a payment', () => {
  it('that was captured is left by nothing: a late failure changes nothing', () => {
    expect(PAYMENT_TRANSITIONS.captured).toEqual({});
    for (const to of PAYMENT_STATUSES) expect(paymentReaches('captured', to)).toBe(false);
  });

  it('that was not captured can still be, whatever was said of it: a later success recovers it', () => {
    for (const from of PAYMENT_STATUSES) expect(paymentReaches(from, 'captured')).toBe(from !== 'captured');
  });

  it('reaches what a chain of transitions leads to, and nothing else', () => {
    // The closure of the table, made another way: by widening every row as long as something is added.
    const closure = new Map(PAYMENT_STATUSES.map((from) => [from, new Set(Object.keys(PAYMENT_TRANSITIONS[from]))]));
    for (const via of PAYMENT_STATUSES) {
      for (const reached of closure.values()) {
        if (reached.has(via)) for (const further of closure.get(via) ?? []) reached.add(further);
      }
    }
    for (const from of PAYMENT_STATUSES) {
      for (const to of PAYMENT_STATUSES) {
        expect(paymentReaches(from, to), `${from} → ${to}`).toBe(closure.get(from)?.has(to));
      }
    }
  });

  it('that reaches a second status reaches all that the second one does', () => {
    for (const a of PAYMENT_STATUSES) {
      for (const b of PAYMENT_STATUSES) {
        for (const c of PAYMENT_STATUSES) {
          if (paymentReaches(a, b) && paymentReaches(b, c)) expect(paymentReaches(a, c), `${a} ${b} ${c}`).toBe(true);
        }
      }
    }
  });

  it('is open while money may come by itself', () => {
    expect(PAYMENT_STATUSES.filter(isOpenPayment)).toEqual(['pending', 'authorized']);
  });
});

describe('a refund', () => {
  it('that succeeded is left only when the bank returns the money', () => {
    expect(REFUND_TRANSITIONS.succeeded).toEqual({ failed: 'return' });
  });

  it('that failed is left by nothing', () => {
    for (const to of REFUND_STATUSES) expect(refundMayBecome('failed', to)).toBe(false);
  });

  it('that nobody can see, or that waits for a person, can still end either way', () => {
    for (const from of ['unknown', 'needs_review'] as const) {
      expect(refundMayBecome(from, 'succeeded')).toBe(true);
      expect(refundMayBecome(from, 'failed')).toBe(true);
    }
  });

  it('holds its amount until it has failed', () => {
    const free = REFUND_STATUSES.filter((status) => !HOLDING_REFUND_STATUSES.includes(status));
    expect(free).toEqual(['failed']);
  });
});

describe('an order', () => {
  it('takes a capture, can be cancelled and expires from the same four statuses', () => {
    const four = ['failed_final', 'partially_paid', 'payment_pending', 'pending_payment'];
    expect([...PAYABLE_ORDER_STATUSES].sort()).toEqual(four);
    expect([...CANCELLABLE_ORDER_STATUSES].sort()).toEqual(four);
    const over = ORDER_STATUSES.filter((status) => !PAYABLE_ORDER_STATUSES.includes(status));
    expect(over).toEqual(['paid', 'cancelled', 'expired']);
  });
});

describe('an order that no capture counts for', () => {
  const payments = fc.array(fc.constantFrom(...PAYMENT_STATUSES), { maxLength: 6 });
  const over = (status: PaymentStatus) => status === 'failed' || status === 'expired';

  it('waits for a payment while one is open', () => {
    fc.assert(
      fc.property(payments, (list) => {
        expect(unpaidOrderStatus(list) === 'payment_pending').toBe(list.some(isOpenPayment));
      }),
    );
  });

  it('has failed when it has payments and all of them failed or expired', () => {
    fc.assert(
      fc.property(payments, (list) => {
        expect(unpaidOrderStatus(list) === 'failed_final').toBe(list.length > 0 && list.every(over));
      }),
    );
  });

  it('stands the same whatever the order in which its payments became known', () => {
    const shuffled = payments.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(unpaidOrderStatus(other)).toBe(unpaidOrderStatus(list));
      }),
    );
  });

  it('is never called paid, and never closed to a capture', () => {
    fc.assert(
      fc.property(payments, (list) => {
        expect(PAYABLE_ORDER_STATUSES).toContain(unpaidOrderStatus(list));
        expect(unpaidOrderStatus(list)).not.toBe('partially_paid');
      }),
    );
  });

  it('waits as on the first day while nothing is known, or while a capture is before a person', () => {
    expect(unpaidOrderStatus([])).toBe('pending_payment');
    expect(unpaidOrderStatus(['captured'])).toBe('pending_payment');
    expect(unpaidOrderStatus(['captured', 'failed'])).toBe('pending_payment');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidedBy, decisionAbout, isByPerson } from '../../src/domain/by-person.ts';
import { contradictsEnd, DISPUTE_MACHINE } from '../../src/domain/dispute-states.ts';
import {
  CANCELLABLE_ORDER_STATUSES,
  ORDER_STATUSES,
  PAYABLE_ORDER_STATUSES,
  unpaidOrderStatus,
} from '../../src/domain/order-states.ts';
import {
  isOpenPayment,
  PAYMENT_MACHINE,
  PAYMENT_STATUSES,
  paymentReaches,
  type PaymentStatus,
} from '../../src/domain/payment-states.ts';
import { HOLDING_REFUND_STATUSES, REFUND_STATUSES, refundMayBecome } from '../../src/domain/refund-states.ts';
import { allowsStep, reaches, statesOf, transitionBetween } from '../../src/domain/state-machine.ts';
import { STATE_MACHINES } from '../../src/domain/state-machines.ts';

describe.each(Object.entries(STATE_MACHINES))('the table of the %s', (name, machine) => {
  const states = statesOf(machine);
  const named = machine.transitions.map((transition) => transition.name);

  it('is kept under its own name, and every state has a sentence', () => {
    expect(machine.name).toBe(name);
    for (const sentence of [machine.about, ...Object.values(machine.states)]) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  it('leads only from and to its own states, each time by a transition with a name of its own and a cause', () => {
    expect(new Set(named).size).toBe(named.length);
    for (const { name: transition, from, to, because } of machine.transitions) {
      expect(transition).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(because).toMatch(/^[A-Z].*\.$/);
      for (const state of [...from, to, ...machine.begins, ...machine.finals]) expect(states).toContain(state);
    }
  });

  it('leads between two states by one transition at most, so that a step in the history has one name', () => {
    for (const from of states) {
      for (const to of states) {
        const ways = machine.transitions.filter((t) => t.from.includes(from) && t.to === to);
        expect(ways.length, `${from} → ${to}`).toBeLessThanOrEqual(1);
      }
    }
  });

  it('leads from a beginning to every state, and from every state to an end', () => {
    for (const state of states) {
      expect(machine.begins.includes(state) || machine.begins.some((begin) => reaches(machine, begin, state))).toBe(
        true,
      );
      expect(machine.finals.includes(state) || machine.finals.some((end) => reaches(machine, state, end))).toBe(true);
    }
  });

  it('allows a step exactly where it has one, from nothing only to where it begins', () => {
    for (const to of states) expect(allowsStep(machine, null, to, true)).toBe(machine.begins.includes(to));
    for (const from of states) {
      for (const to of states) {
        const transition = transitionBetween(machine, from, to);
        const skipped = machine.skips && reaches(machine, from, to);
        expect(allowsStep(machine, from, to, true)).toBe(transition !== undefined || skipped);
        const decided = transition?.decided === true;
        expect(allowsStep(machine, from, to, false)).toBe(
          (transition !== undefined && !decided) || (skipped && !decided),
        );
      }
    }
  });
});

describe('what only a person decides', () => {
  it('is reviving an order, ordering anew what has failed, and deciding itself', () => {
    const decided = Object.values(STATE_MACHINES).flatMap((machine) =>
      machine.transitions.filter((t) => t.decided === true).map((t) => `${machine.name} ${t.name}`),
    );
    expect(decided.sort()).toEqual([
      ...['dead_letter decide', 'order revive', 'order revive_in_part', 'payout order_anew', 'refund order_anew'],
    ]);
  });

  it('is told from the machine by its cause', () => {
    for (const cause of [decidedBy('shop'), decisionAbout('refund:rf_1')]) expect(isByPerson(cause)).toBe(true);
    for (const cause of ['look', 'sim:evt_1', 'sim:decided by', 'refund:decision about x']) {
      expect(isByPerson(cause)).toBe(false);
    }
  });
});

describe('a dispute', () => {
  it('that has ended is opened no more, unless it was an inquiry; another end replaces it', () => {
    expect(transitionBetween(DISPUTE_MACHINE, 'lost', 'opened')).toBeUndefined();
    expect(transitionBetween(DISPUTE_MACHINE, 'won', 'opened')?.name).toBe('escalate');
    expect(transitionBetween(DISPUTE_MACHINE, 'won', 'lost')?.name).toBe('lose_late');
    expect(transitionBetween(DISPUTE_MACHINE, 'lost', 'won')?.name).toBe('win_late');
  });

  it.each([
    ['won', false, 'opened', true, false],
    ['won', false, 'opened', false, true],
    ['won', true, 'opened', true, true],
    ['won', true, 'opened', false, true],
    ['lost', true, 'opened', true, true],
    ['lost', false, 'opened', true, true],
    ['opened', true, 'opened', true, false],
    ['opened', true, 'opened', false, false],
    ['won', true, 'lost', true, false],
    ['lost', true, 'won', true, false],
  ] as const)(
    'that is %s (withheld: %s) and shown as %s (withheld: %s): contradicted %s',
    (known, was, shown, is, no) => {
      expect(contradictsEnd({ status: known, withheld: was }, { status: shown, withheld: is })).toBe(no);
    },
  );
});

describe('a payment', () => {
  it('that was captured is left by nothing: a late failure changes nothing', () => {
    for (const to of PAYMENT_STATUSES) expect(paymentReaches('captured', to)).toBe(false);
  });

  it('that was not captured can still be, whatever was said of it: a later success recovers it', () => {
    for (const from of PAYMENT_STATUSES) expect(paymentReaches(from, 'captured')).toBe(from !== 'captured');
  });

  it('reaches what a chain of transitions leads to, and nothing else', () => {
    // The closure of the table, made another way: by widening every row as long as something is added.
    const next = (from: PaymentStatus) =>
      PAYMENT_MACHINE.transitions.filter((t) => t.from.includes(from)).map(({ to }) => to);
    const closure = new Map(PAYMENT_STATUSES.map((from) => [from, new Set(next(from))]));
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
    expect(REFUND_STATUSES.filter((to) => refundMayBecome('succeeded', to))).toEqual(['failed']);
  });

  it('that failed the machine never begins anew; the gateway may have done it after all', () => {
    expect(REFUND_STATUSES.filter((to) => refundMayBecome('failed', to))).toEqual(['succeeded']);
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

import { describe, expect, it } from 'vitest';
import { expectStorm } from '../../src/cli/demo/expect-storm.ts';
import { planStorm, type Storm } from '../../src/cli/demo/plan-storm.ts';
import { isAsExpected, reportText, type DemoReport } from '../../src/cli/demo/report.ts';
import { stormFaults } from '../../src/cli/demo/storm-faults.ts';
import { faultsSchema } from '../../src/gateways/simulator/faults.ts';

const storm = planStorm({ run: 'demo-x', seed: 7, count: 200 });

describe('a planned storm', () => {
  it('is the same under the same seed, and another under another', () => {
    expect(planStorm({ run: 'demo-x', seed: 7, count: 200 })).toEqual(storm);
    expect(planStorm({ run: 'demo-x', seed: 8, count: 200 })).not.toEqual(storm);
  });

  it('has as many orders as asked for, of every fate, and one in eight is paid twice', () => {
    expect(storm.orders).toHaveLength(200);
    expect(new Set(storm.orders.map(({ fate }) => fate)).size).toBe(7);
    expect(storm.orders.filter(({ fate }) => fate === 'paid_twice')).toHaveLength(25);
    for (const count of [1, 2, 3, 8, 1_000]) {
      expect(planStorm({ run: 'r', seed: 1, count }).orders).toHaveLength(count);
    }
  });

  it('makes orders whose lines add up, and payments that add up to what their fate says', () => {
    for (const { fate, order, payments } of storm.orders) {
      expect(order.lines.reduce((sum, line) => sum + line.amount, 0)).toBe(order.amount);
      const captured = payments
        .filter(({ steps }) => steps.at(-1) === 'captured')
        .reduce((sum, { amount }) => sum + amount, 0);
      const due: Partial<Record<typeof fate, number>> = {
        paid_twice: 2 * order.amount,
        failed: 0,
        partly_paid: Math.floor(order.amount * 0.4),
      };
      expect(captured).toBe(due[fate] ?? order.amount);
    }
  });

  it('uses no id twice', () => {
    const ids = storm.orders.flatMap(({ id, payments }) => [`order ${id}`, ...payments.map((payment) => payment.id)]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('asks for faults that the simulator knows', () => {
    expect(faultsSchema.parse(stormFaults(7))).toMatchObject({ seed: 7 });
  });
});

describe('what is expected of a storm', () => {
  it('counts the consequences of the orders that are paid, once', () => {
    const [one] = storm.orders;
    if (one === undefined) throw new Error('There are orders.');
    const lines = [
      { id: 'a', kind: 'enrolment', amount: 4_990 },
      { id: 'b', kind: 'gift_card', amount: 5_000, quantity: 2 },
      { id: 'c', kind: 'package', amount: 9, quantity: 3 },
    ] as const;
    const order = { ...one.order, amount: 9_999, lines: [...lines] };
    const orders = (['paid', 'paid_twice', 'partly_paid', 'failed'] as const).map((fate) => ({ ...one, fate, order }));
    expect(expectStorm({ ...storm, orders } satisfies Storm, 1)).toEqual({
      ordersPaid: 2,
      ordersNotPaid: 2,
      enrolments: 2,
      loyaltyPoints: 198,
      giftCards: 4,
      packages: 6,
      receipts: 2,
      secondPaymentsFound: 1,
      refunds: 1,
      refundedAmount: 9_999,
      chargedTwice: 0,
    });
  });
});

describe('the report of a demo', () => {
  const expected = expectStorm(storm, 1);
  const report: DemoReport = {
    ...{ run: 'demo-x', seed: 7, ok: true, seconds: 9, storm: { deliveries: 900 }, confirmed: {}, expected },
    paidonce: expected,
    naive: { ...expected, enrolments: 400 },
    audit: { ok: true, checked: 51, violations: [] },
  };

  it('shows beside each other what was expected, what we did and what the naive handler did', () => {
    const text = reportText(report);
    expect(text).toMatch(/enrolments +190 +190 +✗ 400/);
    expect(text).toContain('all 51 invariants hold');
  });

  it('marks what went wrong at ours', () => {
    const paidonce = { ...expected, refunds: 26 };
    expect(isAsExpected(paidonce, expected)).toBe(false);
    expect(reportText({ ...report, ok: false, paidonce })).toMatch(/refunds at the gateway +25 +✗ 26/);
  });

  it('goes without the naive handler where it is not there', () => {
    expect(reportText({ ...report, naive: null })).toMatch(/orders paid +190 +190 +–/);
  });
});

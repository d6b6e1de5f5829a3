import { loyaltyPointsStanding } from '../../domain/loyalty.ts';
import type { Fate, PlannedOrder, Storm } from './plan-storm.ts';

/** What there is to count after the storm; expected, at ours, and at the naive handler's. Amounts are minor units. */
export interface Outcome {
  readonly ordersPaid: number;
  readonly ordersNotPaid: number;
  readonly enrolments: number;
  readonly loyaltyPoints: number;
  readonly giftCards: number;
  readonly packages: number;
  readonly receipts: number;
  readonly secondPaymentsFound: number;
  readonly refunds: number;
  readonly refundedAmount: number;
  /** Customers whose money was taken twice and kept. */
  readonly chargedTwice: number;
}

const NOT_PAID: readonly Fate[] = ['partly_paid', 'failed'];

/** What each customer should have in the end; which of two payments is kept makes no difference to it. */
export function expectStorm({ orders }: Storm, pointsPerMajorUnit: number): Outcome {
  const paid = orders.filter(({ fate }) => !NOT_PAID.includes(fate));
  const twice = orders.filter(({ fate }) => fate === 'paid_twice');
  return {
    ordersPaid: paid.length,
    ordersNotPaid: orders.length - paid.length,
    enrolments: units(paid, 'enrolment'),
    loyaltyPoints: total(paid, ({ order }) => Number(pointsFor(order.amount, order.currency, pointsPerMajorUnit))),
    giftCards: units(paid, 'gift_card'),
    packages: units(paid, 'package'),
    receipts: paid.length,
    secondPaymentsFound: twice.length,
    refunds: twice.length,
    refundedAmount: total(twice, ({ order }) => order.amount),
    chargedTwice: 0,
  };
}

function units(orders: readonly PlannedOrder[], kind: string): number {
  return total(orders, ({ order }) =>
    order.lines.filter((line) => line.kind === kind).reduce((sum, line) => sum + (line.quantity ?? 1), 0),
  );
}

function total(orders: readonly PlannedOrder[], of: (order: PlannedOrder) => number): number {
  return orders.reduce((sum, order) => sum + of(order), 0);
}

function pointsFor(amount: number, currency: string, rate: number): bigint {
  const due = BigInt(amount);
  const kept = { amountDue: due, amountPaid: due, amountRefunded: 0n, amountChargedBack: 0n };
  return loyaltyPointsStanding({ currency, ...kept, rate });
}

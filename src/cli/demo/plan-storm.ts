import { draw } from '../../gateways/simulator/draw.ts';
import type { NewOrder } from '../../client/types.ts';

/** What becomes of an order in the storm. */
export type Fate =
  /** One payment. */
  | 'paid'
  /** The customer pays twice. */
  | 'paid_twice'
  /** The first attempt fails, the second pays. */
  | 'paid_at_second_try'
  /** Two parts that together reach what is due. */
  | 'paid_in_parts'
  /** Its webhook comes before the order exists. */
  | 'paid_before_it_exists'
  /** One part, and the rest never comes. */
  | 'partly_paid'
  /** Nothing but a failed attempt. */
  | 'failed';

export type PaymentStep = 'pending' | 'authorized' | 'captured' | 'failed';

export interface PlannedPayment {
  readonly id: string;
  readonly amount: number;
  /** The states that it goes through, each with its webhook. */
  readonly steps: readonly PaymentStep[];
  /** Copies of each webhook that leave the gateway side by side. */
  readonly copies: number;
}

export interface PlannedOrder {
  readonly id: string;
  readonly fate: Fate;
  readonly order: NewOrder & { readonly id: string };
  readonly payments: readonly PlannedPayment[];
  /** Whether the payments happen in the same instant; else one after the other. */
  readonly atOnce: boolean;
  /** Whether the browser comes back at the moment when the webhook is under way. */
  readonly confirms: boolean;
}

export interface Storm {
  /** Goes before every id, so that the demo can be run again. */
  readonly run: string;
  readonly seed: number;
  readonly orders: readonly PlannedOrder[];
}

/** How many of a hundred orders have each fate; all others are simply paid. One in eight is paid twice. */
const SHARES: readonly (readonly [Exclude<Fate, 'paid'>, number])[] = [
  ['paid_twice', 12.5],
  ['paid_at_second_try', 5],
  ['paid_in_parts', 5],
  ['paid_before_it_exists', 5],
  ['partly_paid', 2],
  ['failed', 3],
];

/** Plans `count` orders and their payments: the same seed gives the same storm. */
export function planStorm({ run, seed, count }: { run: string; seed: number; count: number }): Storm {
  const fates: Fate[] = SHARES.flatMap(([fate, share]) =>
    new Array<Fate>(Math.round((count * share) / 100)).fill(fate),
  );
  while (fates.length < count) fates.push('paid');
  const shuffled = fates
    .map((fate, n) => ({ fate, place: draw(seed, 'shuffle', n) }))
    .sort((a, b) => a.place - b.place)
    .slice(0, count);
  return { run, seed, orders: shuffled.map(({ fate }, n) => planOrder(run, seed, n + 1, fate)) };
}

function planOrder(run: string, seed: number, n: number, fate: Fate): PlannedOrder {
  const number = String(n).padStart(4, '0');
  const chance = (what: string): number => draw(seed, what, n);
  const pick = (what: string, least: number, most: number): number =>
    least + Math.floor(chance(what) * (most - least + 1));
  const lines = planLines(chance, pick);
  const amount = lines.reduce((sum, line) => sum + line.amount, 0);
  const part = Math.floor(amount * 0.4);
  const payment = (suffix: string, paid: number, last: PaymentStep): PlannedPayment => ({
    id: `${run}-${number}${suffix}`,
    amount: paid,
    steps:
      chance(`steps${suffix}`) < 0.3
        ? ['pending', last]
        : chance(`steps${suffix}`) < 0.5 && last === 'captured'
          ? ['authorized', last]
          : [last],
    copies: pick(`copies${suffix}`, 1, 3),
  });
  const payments: Readonly<Record<Fate, () => PlannedPayment[]>> = {
    paid: () => [payment('a', amount, 'captured')],
    paid_twice: () => [payment('a', amount, 'captured'), payment('b', amount, 'captured')],
    paid_at_second_try: () => [payment('a', amount, 'failed'), payment('b', amount, 'captured')],
    paid_in_parts: () => [payment('a', part, 'captured'), payment('b', amount - part, 'captured')],
    paid_before_it_exists: () => [payment('a', amount, 'captured')],
    partly_paid: () => [payment('a', part, 'captured')],
    failed: () => [payment('a', amount, 'failed')],
  };
  return {
    id: `${run}-${number}`,
    fate,
    order: { id: `${run}-${number}`, currency: 'EUR', amount, customer: { id: `demo-customer-${number}` }, lines },
    payments: payments[fate](),
    atOnce: (fate === 'paid_twice' || fate === 'paid_in_parts') && chance('at once') < 0.5,
    confirms: fate !== 'paid_before_it_exists' && chance('confirms') < 0.3,
  };
}

function planLines(
  chance: (what: string) => number,
  pick: (what: string, least: number, most: number) => number,
): NewOrder['lines'] {
  const lines: NewOrder['lines'] = [{ id: 'course', kind: 'enrolment', amount: pick('course', 40, 200) * 100 - 10 }];
  if (chance('has cards') < 0.35) {
    const quantity = pick('cards', 1, 3);
    lines.push({ id: 'cards', kind: 'gift_card', amount: quantity * 2_500, quantity });
  }
  if (chance('has package') < 0.25)
    lines.push({ id: 'package', kind: 'package', amount: 9_900, quantity: pick('package', 1, 2) });
  if (chance('has book') < 0.3) {
    lines.push({ id: 'book', kind: 'product', amount: 1_995 }, { id: 'shipping', kind: 'shipping', amount: 490 });
  }
  if (chance('has discount') < 0.2) lines.push({ id: 'discount', kind: 'discount', amount: -500 });
  return lines;
}

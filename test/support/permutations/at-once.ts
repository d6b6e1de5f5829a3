import { again, confirm, EVERYTHING, gaveBack, paid, type Scenario } from './scenario.ts';

const captured = paid('evt_captured', 'captured');
const part = (n: number, amount: bigint) => paid(`evt_${n}`, 'captured', { payment: `pay_${n}~`, amount });
const PAID_ONCE = { orders: [{ status: 'paid', amount_paid: 10_000 }], bookings: 1 };

/** Steps that all begin in the same instant, though in production the workflow keeps those of one payment apart. */
export const AT_ONCE: readonly Scenario[] = [
  {
    name: 'two events of one payment',
    order: { lines: EVERYTHING },
    steps: [captured, paid('evt_fresh', 'captured')],
    ends: 'one',
    always: { ...PAID_ONCE, gift_cards: 2, points: [{ points: 100 }], refunds: 0 },
  },
  {
    name: 'an event, its copy, and the browser, twice',
    order: { lines: EVERYTHING },
    steps: [captured, again(captured), confirm('a'), confirm('b')],
    ends: 'one',
    always: { ...PAID_ONCE, events: [{ state: 'processed' }], refunds: 0 },
  },
  {
    name: 'two payments of one order',
    order: { lines: EVERYTHING },
    steps: [part(1, 10_000n), part(2, 10_000n)],
    ends: 'rules',
    always: { ...PAID_ONCE, order_payments: 1, refunds: [{ kind: 'extra_capture', status: 'succeeded' }] },
  },
  {
    name: 'two parts and a third one',
    steps: [part(1, 4_000n), part(2, 6_000n), part(3, 6_000n)],
    ends: 'rules',
    always: { orders: [{ status: 'paid' }], bookings: 1 },
  },
  {
    name: 'a capture and its full refund',
    order: { lines: EVERYTHING },
    steps: [captured, gaveBack('evt_r', 'rf_1', 'succeeded', 10_000n)],
    ends: 'one',
    always: { orders: [{ status: 'paid', amount_refunded: 10_000 }], bookings: [{ status: 'cancelled' }], points: 0 },
  },
  {
    name: 'two refunds of one payment',
    before: [captured],
    steps: [gaveBack('evt_1', 'rf_1', 'succeeded', 3_000n), gaveBack('evt_2', 'rf_2', 'succeeded', 3_000n)],
    ends: 'one',
    always: { orders: [{ amount_refunded: 6_000 }], refunds: 2, invoices: [{ kind: 'credit_note', amount: 6_000 }] },
  },
  {
    name: 'a capture and its order',
    steps: [captured, { does: 'create order' }],
    ends: 'one',
    always: PAID_ONCE,
  },
  {
    name: 'a capture and the end of its order',
    steps: [captured, { does: 'cancel' }],
    ends: 'by order status',
    always: { orders: 1 },
  },
  {
    name: 'two events of a payment that fills a wallet',
    before: [{ does: 'reserve top-up', id: 'tu_1~' }],
    steps: ['evt_1', 'evt_2'].map((id) =>
      paid(id, 'captured', { orderId: null, reference: 'top_up:tu_1~', event: { order_id: null } }),
    ),
    ends: 'one',
    always: { wallets: [{ balance: 10_000 }], wallet_money: 1, top_ups: [{ status: 'succeeded' }] },
  },
];

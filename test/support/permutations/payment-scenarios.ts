import { again, became, confirm, EVERYTHING, gaveBack, paid, refunded, webhook, type Scenario } from './scenario.ts';

const captured = paid('evt_captured', 'captured');
const PAID = {
  orders: [{ status: 'paid', amount_paid: 10_000, amount_refunded: 0 }],
  events: [{ state: 'processed' }],
};

/** One payment of one order. */
export const PAYMENT_SCENARIOS: readonly Scenario[] = [
  {
    name: 'one capture, told three times, once under a fresh id',
    order: { lines: EVERYTHING },
    steps: [captured, again(captured), paid('evt_fresh', 'captured'), confirm('c')],
    ends: 'one',
    always: { ...PAID, bookings: 1, gift_cards: 2, packages: 3, points: [{ points: 100 }] },
  },
  {
    name: 'failed, then captured; the failure comes again under another id',
    steps: [
      paid('evt_failed', 'failed'),
      captured,
      { ...paid('evt_failed_2', 'failed'), happened: [] },
      again(captured),
      confirm('c'),
    ],
    ends: 'one',
    always: PAID,
  },
  {
    name: 'pending, authorised, captured',
    steps: [paid('evt_p', 'pending'), paid('evt_a', 'authorized'), captured, again(captured), confirm('c')],
    ends: 'one',
    always: PAID,
  },
  {
    name: 'failed and tried again, twice, before the capture',
    steps: [
      ...[paid('evt_p1', 'pending'), paid('evt_f1', 'failed'), paid('evt_p2', 'pending'), paid('evt_f2', 'failed')],
      ...[paid('evt_a', 'authorized'), captured],
    ],
    ends: 'one',
    always: { ...PAID, payments: [{ status: 'captured' }] },
  },
  {
    name: 'pending, then expired',
    steps: [paid('evt_p', 'pending'), paid('evt_e', 'expired'), paid('evt_e2', 'expired'), confirm('c')],
    ends: 'one',
    always: { orders: [{ status: 'failed_final', amount_paid: 0 }], bookings: 0, payments: [{ status: 'expired' }] },
  },
  {
    name: 'failed, then expired',
    steps: [paid('evt_p', 'pending'), paid('evt_f', 'failed'), paid('evt_e', 'expired'), paid('evt_e2', 'expired')],
    ends: 'one',
    always: { orders: [{ status: 'failed_final' }], payments: [{ status: 'expired' }] },
  },
  {
    name: 'expired, and captured all the same',
    steps: [paid('evt_p', 'pending'), paid('evt_e', 'expired'), captured, again(captured), confirm('c')],
    ends: 'one',
    always: PAID,
  },
  {
    name: 'captured before its order is there',
    order: { lines: EVERYTHING },
    steps: [paid('evt_p', 'pending'), captured, { does: 'create order' }, again(captured), confirm('c')],
    ends: 'one',
    always: { ...PAID, gift_cards: 2 },
  },
  {
    name: 'refunded before its order is there',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_p', 'pending'), captured, gaveBack('evt_rp', 'rf_1', 'pending', 10_000n)],
      ...[gaveBack('evt_rs', 'rf_1', 'succeeded', 10_000n), { does: 'create order' } as const],
    ],
    ends: 'one',
    always: {
      orders: [{ status: 'paid', amount_refunded: 10_000 }],
      ...{ bookings: [{ status: 'cancelled' }], points: 0, refunds: [{ kind: 'gateway', status: 'succeeded' }] },
    },
  },
  {
    name: 'captured, and the order never comes',
    order: {},
    policies: { orderWaitMs: 7_200_000 },
    // Made elsewhere, so that the one that the payment names stays away.
    before: [],
    steps: ['evt_p', 'evt_c', 'evt_c2', 'evt_c3'].map((id, n) =>
      paid(id, n === 0 ? 'pending' : 'captured', { orderId: 'ord_other~', event: { order_id: 'ord_other~' } }),
    ),
    ends: 'one',
    always: {
      payments: [{ status: 'captured', outcome: 'held_for_review' }],
      dead_letters: [{ kind: 'unmatched_payment' }],
    },
  },
  {
    name: 'captured in another currency',
    steps: [
      ...[paid('evt_p', 'pending', { currency: 'USD' }), paid('evt_c', 'captured', { currency: 'USD' })],
      ...[paid('evt_c2', 'captured', { currency: 'USD' }), confirm('c')],
    ],
    ends: 'one',
    always: {
      orders: [{ status: 'pending_payment', amount_paid: 0 }],
      ...{ dead_letters: [{ kind: 'wrong_currency', amount: 10_000, currency: 'USD' }], bookings: 0 },
    },
  },
  {
    name: 'too much, and the surplus goes back',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_p', 'pending', { amount: 12_000n }), paid('evt_c', 'captured', { amount: 12_000n })],
      ...[gaveBack('evt_rp', 'rf_1', 'pending', 2_000n), gaveBack('evt_rs', 'rf_1', 'succeeded', 2_000n), confirm('c')],
    ],
    ends: 'one',
    always: {
      orders: [{ status: 'paid', amount_paid: 12_000, amount_refunded: 2_000 }],
      ...{ bookings: [{ status: 'confirmed' }], points: [{ points: 100 }], invoices: 1 },
    },
  },
  {
    name: 'a part alone',
    steps: [
      paid('evt_p', 'pending', { amount: 4_000n }),
      paid('evt_c', 'captured', { amount: 4_000n }),
      confirm('c'),
      confirm('d'),
    ],
    ends: 'one',
    always: { orders: [{ status: 'partially_paid', amount_paid: 4_000 }], bookings: 0 },
  },
  {
    name: 'an event names another order than the payment does',
    steps: [
      ...[paid('evt_p', 'pending'), captured, paid('evt_c2', 'captured')],
      webhook('evt_astray', 'payment.captured', { order_id: 'ord_2~', amount: 10_000, currency: 'EUR' }),
    ],
    ends: 'one',
    always: {
      orders: [{ status: 'paid' }],
      ...{ dead_letters: [{ kind: 'event_unreadable' }], events: [{ event_id: 'evt_astray~', state: 'held' }] },
    },
  },
  {
    name: 'events that claim nothing, and one id that comes with four different bodies',
    // Other bytes under a known id ask for a look and claim nothing by themselves: there is no claim that could wait.
    prompt: true,
    steps: [
      webhook('evt_1', 'payment.pending', { status: null }, became('pending')),
      webhook('evt_1', 'payment.pending', { status: 'pending', amount: 10_000, currency: 'EUR' }),
      webhook('evt_1', 'payment.captured', { status: 'captured', amount: 10_000, currency: 'EUR' }, became('captured')),
      webhook('evt_2', 'payment.captured', {}),
      webhook(
        'evt_1',
        'refund.succeeded',
        { refund_id: 'rf_1~', amount: 400 },
        refunded('rf_1', 'succeeded', { amount: 400n }),
      ),
    ],
    ends: 'one',
    always: { orders: [{ status: 'paid', amount_refunded: 400 }], refunds: [{ status: 'succeeded', amount: 400 }] },
  },
  {
    name: 'a payment that fills a wallet, and a part of it goes back',
    before: [{ does: 'reserve top-up', id: 'tu_1~' }],
    steps: [
      ...(['pending', 'authorized', 'captured'] as const).map((status) =>
        paid(`evt_${status}`, status, { orderId: null, reference: 'top_up:tu_1~', event: { order_id: null } }),
      ),
      gaveBack('evt_r', 'rf_1', 'succeeded', 3_000n, { event: { order_id: null } }),
      confirm('c'),
    ],
    ends: 'one',
    always: {
      ...{ wallets: [{ balance: 7_000 }], top_ups: [{ status: 'succeeded', payment_id: 'pay_1~' }] },
      payments: [{ status: 'captured', amount_refunded: 3_000, purpose: 'top_up' }],
    },
  },
];

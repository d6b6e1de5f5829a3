import { again, confirm, EVERYTHING, gaveBack, paid, refunded, webhook, type Scenario, type Step } from './scenario.ts';

const captured = paid('evt_captured', 'captured');
const FULL = {
  orders: [{ status: 'paid', amount_paid: 10_000, amount_refunded: 10_000 }],
  ...{ bookings: [{ status: 'cancelled' }], gift_cards: [{ status: 'disabled', remaining: 0 }], points: 0 },
  invoices: [{ kind: 'credit_note', amount: 10_000 }],
};
/** Our own refund of 30.00, asked for and not yet answered when the events come. */
const ours = { of: 'pay_1~', reference: 'refund:ref_1~', event: { reference: 'refund:ref_1~' } };
const placed: readonly Step[] = [
  captured,
  { does: 'ask for refund', id: 'ref_1~', paymentId: 'pay_1~', amount: 3_000n },
];

/** Refunds of one payment. */
export const REFUND_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a full refund, its events before the capture or after',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_p', 'pending'), captured, gaveBack('evt_rp', 'rf_1', 'pending', 10_000n)],
      ...[gaveBack('evt_rs', 'rf_1', 'succeeded', 10_000n), again(captured)],
    ],
    ends: 'one',
    always: FULL,
  },
  {
    name: 'two partial refunds that reach the whole, with every consequence in proportion',
    order: { lines: EVERYTHING },
    steps: [
      ...[captured, gaveBack('evt_1p', 'rf_1', 'pending', 3_333n), gaveBack('evt_1s', 'rf_1', 'succeeded', 3_333n)],
      ...[gaveBack('evt_2p', 'rf_2', 'pending', 6_667n), gaveBack('evt_2s', 'rf_2', 'succeeded', 6_667n)],
    ],
    ends: 'one',
    always: FULL,
  },
  {
    name: 'two partial refunds that leave something',
    order: { lines: EVERYTHING },
    steps: [
      ...[captured, gaveBack('evt_1s', 'rf_1', 'succeeded', 3_333n), gaveBack('evt_2s', 'rf_2', 'succeeded', 1_111n)],
      ...[gaveBack('evt_2s2', 'rf_2', 'succeeded', 1_111n), confirm('c')],
    ],
    ends: 'one',
    always: {
      orders: [{ amount_refunded: 4_444 }],
      ...{
        points: [{ points: 55 }],
        bookings: [{ status: 'confirmed' }],
        invoices: [{ kind: 'credit_note', amount: 4_444 }],
      },
    },
  },
  {
    name: 'a refund that fails, and one that succeeds in its place',
    order: { lines: EVERYTHING },
    steps: [
      ...[captured, gaveBack('evt_1p', 'rf_1', 'pending', 10_000n), gaveBack('evt_1f', 'rf_1', 'failed', 10_000n)],
      ...[gaveBack('evt_2p', 'rf_2', 'pending', 10_000n), gaveBack('evt_2s', 'rf_2', 'succeeded', 10_000n)],
    ],
    ends: 'one',
    always: FULL,
  },
  {
    name: 'a part goes back, and days later the bank returns it',
    order: { lines: EVERYTHING },
    steps: [
      ...[captured, gaveBack('evt_p', 'rf_1', 'pending', 3_000n), gaveBack('evt_s', 'rf_1', 'succeeded', 3_000n)],
      ...[gaveBack('evt_f', 'rf_1', 'failed', 3_000n), again(gaveBack('evt_s', 'rf_1', 'succeeded', 3_000n))],
    ],
    ends: 'one',
    always: { orders: [{ amount_refunded: 0 }], refunds: [{ status: 'failed' }], points: [{ points: 100 }] },
  },
  {
    name: 'all goes back, and days later the bank returns it',
    order: { lines: EVERYTHING },
    steps: [
      ...[captured, gaveBack('evt_p', 'rf_1', 'pending', 10_000n), gaveBack('evt_s', 'rf_1', 'succeeded', 10_000n)],
      ...[gaveBack('evt_f', 'rf_1', 'failed', 10_000n), confirm('c')],
    ],
    ends: 'one',
    always: {
      ...{ orders: [{ amount_refunded: 0 }], refunds: [{ status: 'failed' }], points: [{ points: 100 }] },
      ...{ bookings: [{ status: 'confirmed' }], gift_cards: [{ status: 'active', remaining: 1_501 }] },
      ...{ packages: [{ status: 'active' }], dead_letters: [{ kind: 'refund_failed' }] },
    },
  },
  {
    name: 'a refund of ours, told by our reference, beside one from the dashboard of the same amount',
    order: { lines: EVERYTHING },
    before: placed,
    steps: [
      ...[gaveBack('evt_1p', 'rf_1', 'pending', 3_000n, ours), gaveBack('evt_1s', 'rf_1', 'succeeded', 3_000n, ours)],
      ...[gaveBack('evt_2p', 'rf_2', 'pending', 3_000n), gaveBack('evt_2s', 'rf_2', 'succeeded', 3_000n), confirm('c')],
    ],
    ends: 'one',
    always: {
      orders: [{ amount_refunded: 6_000 }],
      refunds: [
        { id: 'ref_1~', kind: 'requested', status: 'succeeded', gateway_refund_id: 'rf_1~' },
        { id: 'gateway:sim:rf_2~', kind: 'gateway', status: 'succeeded' },
      ],
    },
  },
  {
    name: 'a refund of ours whose events name only the id that the gateway gave it',
    before: [...placed, { does: 'run refund', id: 'ref_1~' }],
    steps: [
      webhook('evt_1', 'refund.pending', { refund_id: 'rf_of_refund:ref_1~' }),
      webhook('evt_2', 'refund.succeeded', { refund_id: 'rf_of_refund:ref_1~' }),
      ...[gaveBack('evt_2p', 'rf_2', 'pending', 3_000n), gaveBack('evt_2s', 'rf_2', 'succeeded', 3_000n)],
      gaveBack('evt_2f', 'rf_2', 'failed', 3_000n),
    ],
    ends: 'one',
    always: {
      orders: [{ amount_refunded: 3_000 }],
      refunds: [{ id: 'ref_1~', status: 'succeeded' }, { status: 'failed' }],
    },
  },
  {
    name: 'a refund that the shop asks for among the events of the payment and of another refund',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_p', 'pending'), captured],
      { does: 'ask for refund', id: 'ref_1~', paymentId: 'pay_1~', amount: 3_000n },
      ...[gaveBack('evt_2p', 'rf_2', 'pending', 2_000n), gaveBack('evt_2s', 'rf_2', 'succeeded', 2_000n)],
    ],
    ends: 'one',
    always: { orders: [{ amount_refunded: 5_000 }], refunds: [{ id: 'ref_1~', status: 'succeeded', amount: 3_000 }] },
  },
  {
    name: 'an event that says only that something was refunded',
    steps: [
      ...[captured, webhook('evt_r', 'refund.succeeded', {}, refunded('rf_1', 'succeeded', { amount: 500n }))],
      ...[webhook('evt_r2', 'refund.succeeded', {}, refunded('rf_2', 'succeeded', { amount: 700n })), confirm('c')],
    ],
    ends: 'one',
    always: { orders: [{ amount_refunded: 1_200 }], refunds: 2 },
  },
];

import type { DisputeFacts } from '../../../src/domain/gateway-facts.ts';
import { again, EVERYTHING, gaveBack, paid, webhook, type Happening, type Scenario, type Webhook } from './scenario.ts';

const CREATED = 1_764_500_000;

/** An event of Stripe's about `pi_1~`. */
function stripe(id: string, type: string, object: object, ...happened: Happening[]): Webhook {
  const envelope = {
    id: `${id}~`,
    object: 'event',
    api_version: '2025-09-30.clover',
    created: CREATED,
    livemode: false,
  };
  return { does: 'webhook', source: 'stripe', headers: {}, body: { ...envelope, type, data: { object } }, happened };
}
const stripeIs = (status: 'pending' | 'authorized' | 'captured' | 'failed'): Happening => ({
  source: 'stripe',
  payment: 'pi_1~',
  status,
});
const stripeRefund = (refund: string, amount: bigint, status: 'pending' | 'succeeded' | 'failed'): Happening => ({
  ...{ source: 'stripe', refund: `${refund}~`, of: 'pi_1~', amount, status },
});
/** An event about a dispute of it, which is so by then. */
const stripeDispute = (id: string, type: string, status: string, shown: Partial<DisputeFacts>): Webhook =>
  stripe(
    id,
    `charge.dispute.${type}`,
    {
      ...{ id: 'dp_1~', object: 'dispute', amount: 10_000, currency: 'eur', charge: 'ch_1~', payment_intent: 'pi_1~' },
      ...{ status, metadata: {} },
    },
    { source: 'stripe', dispute: 'dp_1~', of: 'pi_1~', ...shown },
  );
const metadata = { order_id: 'ord_1~' };
const intent = { id: 'pi_1~', object: 'payment_intent', amount: 10_000, currency: 'eur', metadata };
/** `amount_refunded` is a running total. */
const charge = (amount_refunded: number) => ({
  ...{
    id: 'ch_1~',
    object: 'charge',
    amount: 10_000,
    amount_captured: 10_000,
    amount_refunded,
    captured: true,
    currency: 'eur',
  },
  ...{ payment_intent: 'pi_1~', status: 'succeeded', metadata },
});
const refundObject = (id: string, amount: number, status: string) => ({
  ...{
    id: `${id}~`,
    object: 'refund',
    amount,
    currency: 'eur',
    charge: 'ch_1~',
    payment_intent: 'pi_1~',
    status,
    metadata: {},
  },
});

/** An event of Razorpay's about `pay_1~`, without the header that would name it: its id is derived from the fact. */
function razorpay(
  event: string,
  status: string,
  more: { refund?: object; at?: number },
  ...happened: Happening[]
): Webhook {
  const payment = {
    id: 'pay_1~',
    amount: 10_000,
    currency: 'INR',
    status,
    captured: status !== 'authorized',
    notes: metadata,
  };
  const payload = {
    payment: { entity: payment },
    ...(more.refund === undefined ? {} : { refund: { entity: more.refund } }),
  };
  const body = { entity: 'event', event, created_at: more.at ?? CREATED, payload };
  return { does: 'webhook', source: 'razorpay', headers: {}, body, happened };
}
const razorpayIs = (status: 'authorized' | 'captured'): Happening => ({
  ...{ source: 'razorpay', payment: 'pay_1~', status, currency: 'INR' },
});
const rupees = (status: string) => ({
  id: 'rfnd_1~',
  payment_id: 'pay_1~',
  amount: 2_500,
  currency: 'INR',
  status,
  notes: [],
});
const rupeesBack = (status: 'pending' | 'succeeded'): Happening => ({
  ...{ source: 'razorpay', refund: 'rfnd_1~', of: 'pay_1~', amount: 2_500n, currency: 'INR', status },
});
const INR: Scenario['order'] = { currency: 'INR' };

const dispute = (
  id: string,
  status: 'opened' | 'won' | 'lost',
  timestamp: string,
  name = 'dp_1',
  amount = 10_000,
  more: object = {},
): Webhook => {
  const told = webhook(id, `dispute.${status}`, { dispute_id: `${name}~`, amount, currency: 'EUR', ...more });
  return { ...told, body: { ...told.body, timestamp } };
};
const captured = paid('evt_captured', 'captured');
const MONDAY = '2026-11-30T12:00:00Z';
const FRIDAY = '2026-12-04T12:00:00Z';

/** What the gateways do each in their own way, and disputes. */
export const GATEWAY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'one payment under three kinds of events',
    steps: [
      stripe('evt_1', 'payment_intent.processing', { ...intent, status: 'processing' }, stripeIs('pending')),
      stripe('evt_2', 'charge.succeeded', charge(0), stripeIs('captured')),
      stripe('evt_3', 'payment_intent.succeeded', { ...intent, amount_received: 10_000, status: 'succeeded' }),
      stripe('evt_4', 'checkout.session.completed', {
        ...{ id: 'cs_1~', object: 'checkout.session', amount_total: 10_000, currency: 'eur', payment_intent: 'pi_1~' },
        ...{ payment_status: 'paid', client_reference_id: 'ord_1~', metadata: {} },
      }),
      stripe('evt_5', 'payment_intent.succeeded', { id: 'pi_1~', object: 'payment_intent' }),
    ],
    ends: 'one',
    always: { orders: [{ status: 'paid', amount_paid: 10_000 }], order_payments: 1, refunds: 0 },
  },
  {
    name: 'a gateway that sends running totals of what was refunded',
    order: { lines: EVERYTHING },
    steps: [
      stripe('evt_1', 'payment_intent.succeeded', { ...intent, status: 'succeeded' }, stripeIs('captured')),
      stripe('evt_2', 'charge.refunded', charge(200), stripeRefund('re_1', 200n, 'succeeded')),
      stripe('evt_3', 'refund.created', refundObject('re_1', 200, 'succeeded')),
      stripe('evt_4', 'charge.refunded', charge(500), stripeRefund('re_2', 300n, 'succeeded')),
      stripe('evt_5', 'refund.updated', refundObject('re_2', 300, 'succeeded')),
      stripe('evt_6', 'charge.refunded', charge(500)),
    ],
    ends: 'one',
    always: {
      orders: [{ amount_refunded: 500 }],
      refunds: 2,
      points: [{ points: 95 }],
      invoices: [{ kind: 'credit_note', amount: 500 }],
    },
  },
  {
    name: 'a declined attempt and the next one under the same intent',
    steps: [
      stripe(
        'evt_1',
        'payment_intent.payment_failed',
        {
          ...{ ...intent, status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } },
        },
        stripeIs('failed'),
      ),
      stripe(
        'evt_2',
        'payment_intent.amount_capturable_updated',
        { ...intent, status: 'requires_capture' },
        stripeIs('authorized'),
      ),
      stripe('evt_3', 'charge.captured', charge(0), stripeIs('captured')),
      stripe('evt_4', 'payment_intent.succeeded', { ...intent, status: 'succeeded' }),
    ],
    ends: 'one',
    always: { orders: [{ status: 'paid' }], refunds: 0 },
  },
  {
    name: 'events without ids of their own, told again with other bytes',
    order: INR,
    steps: [
      razorpay('payment.authorized', 'authorized', {}, razorpayIs('authorized')),
      razorpay('payment.captured', 'captured', {}, razorpayIs('captured')),
      again(razorpay('payment.captured', 'captured', {})),
      razorpay('refund.created', 'captured', { refund: rupees('created') }, rupeesBack('pending')),
      razorpay('refund.processed', 'captured', { refund: rupees('processed') }, rupeesBack('succeeded')),
      // The same fact by its fields, and yet another body.
      razorpay('payment.captured', 'refunded', {}),
      razorpay('payment.captured', 'captured', { at: CREATED + 60 }),
    ],
    ends: 'one',
    always: { orders: [{ status: 'paid', amount_refunded: 2_500 }], events: 5, refunds: 1 },
  },
  {
    name: 'yen, which have no smaller unit, and a part of them back',
    order: { currency: 'JPY', lines: [{ id: 'l1', kind: 'booking', amount: 500n }] },
    steps: [
      ...[
        paid('evt_p', 'pending', { amount: 500n, currency: 'JPY' }),
        paid('evt_c', 'captured', { amount: 500n, currency: 'JPY' }),
      ],
      ...[
        gaveBack('evt_1', 'rf_1', 'succeeded', 123n, { currency: 'JPY' }),
        gaveBack('evt_2', 'rf_2', 'succeeded', 1n, { currency: 'JPY' }),
      ],
    ],
    ends: 'one',
    always: { orders: [{ amount_paid: 500, amount_refunded: 124 }], points: [{ points: 376 }] },
  },
  {
    name: 'dinars, which have a thousand parts, and a part of them back',
    order: { currency: 'KWD', lines: [{ id: 'l1', kind: 'booking', amount: 1_234n }] },
    steps: [
      ...[
        paid('evt_p', 'pending', { amount: 1_234n, currency: 'KWD' }),
        paid('evt_c', 'captured', { amount: 1_234n, currency: 'KWD' }),
      ],
      ...[
        gaveBack('evt_1', 'rf_1', 'succeeded', 234n, { currency: 'KWD' }),
        again(gaveBack('evt_1', 'rf_1', 'succeeded', 234n)),
      ],
    ],
    ends: 'one',
    always: { orders: [{ amount_paid: 1_234, amount_refunded: 234 }], points: [{ points: 1 }] },
  },
  {
    name: 'a dispute that is opened, beside a refund',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_p', 'pending'), captured, dispute('evt_d1', 'opened', MONDAY)],
      ...[gaveBack('evt_r', 'rf_1', 'succeeded', 2_000n), dispute('evt_d2', 'opened', MONDAY)],
    ],
    ends: 'one',
    always: { orders: [{ status: 'paid', disputed: true, amount_refunded: 2_000 }] },
  },
  ...(['won', 'lost'] as const).map((end): Scenario => ({
    name: `a dispute that is opened and ${end}, beside a refund`,
    needs: 'disputes',
    order: { lines: EVERYTHING },
    steps: [
      ...[captured, dispute('evt_d1', 'opened', MONDAY), dispute('evt_d2', end, FRIDAY)],
      ...[gaveBack('evt_rp', 'rf_1', 'pending', 2_000n), gaveBack('evt_rs', 'rf_1', 'succeeded', 2_000n)],
    ],
    ends: 'one',
    always: {
      orders: [{ status: 'paid', disputed: end === 'lost', amount_refunded: 2_000 }],
      disputes: [{ status: end }],
    },
  })),
  {
    name: 'two disputes of one payment, each of a part, one won and one lost',
    needs: 'disputes',
    steps: [
      captured,
      ...[dispute('evt_1o', 'opened', MONDAY, 'dp_1', 4_000), dispute('evt_1w', 'won', FRIDAY, 'dp_1', 4_000)],
      ...[dispute('evt_2o', 'opened', MONDAY, 'dp_2', 5_000), dispute('evt_2l', 'lost', FRIDAY, 'dp_2', 5_000)],
    ],
    ends: 'one',
    always: { orders: [{ disputed: true }], disputes: [{ status: 'won' }, { status: 'lost' }] },
  },
  // The gateway is taken to show what it tells: of two different ends nobody can say which is from a replica that lags.
  {
    name: 'an inquiry that ends, becomes a dispute after all, and is lost',
    prompt: true,
    order: { lines: EVERYTHING },
    steps: [
      stripe('evt_1', 'payment_intent.succeeded', { ...intent, status: 'succeeded' }, stripeIs('captured')),
      stripeDispute('evt_d1', 'created', 'warning_needs_response', { status: 'opened', withheld: false }),
      stripeDispute('evt_d2', 'closed', 'warning_closed', { status: 'won' }),
      stripeDispute('evt_d3', 'updated', 'needs_response', { status: 'opened', withheld: true }),
      stripeDispute('evt_d4', 'closed', 'lost', { status: 'lost' }),
    ],
    ends: 'one',
    always: { orders: [{ status: 'paid', disputed: true }], disputes: [{ status: 'lost' }], dead_letters: 0 },
  },
  {
    name: 'a dispute that is won, lost at the second presentment, and won again',
    prompt: true,
    steps: [
      stripe('evt_1', 'payment_intent.succeeded', { ...intent, status: 'succeeded' }, stripeIs('captured')),
      stripeDispute('evt_d1', 'created', 'needs_response', { status: 'opened' }),
      stripeDispute('evt_d2', 'closed', 'won', { status: 'won' }),
      stripeDispute('evt_d3', 'closed', 'lost', { status: 'lost' }),
      stripeDispute('evt_d4', 'closed', 'won', { status: 'won' }),
    ],
    ends: 'one',
    always: { orders: [{ status: 'paid', disputed: false }], disputes: [{ status: 'won' }], dead_letters: 0 },
  },
  {
    name: 'a dispute of a payment whose order is not there yet',
    needs: 'disputes',
    steps: [
      ...[paid('evt_p', 'pending'), captured, { does: 'create order' } as const],
      ...[dispute('evt_d1', 'opened', MONDAY), dispute('evt_d2', 'lost', FRIDAY)],
    ],
    ends: 'one',
    always: { orders: [{ status: 'paid', disputed: true }], disputes: [{ status: 'lost' }] },
  },
  ...(['won', 'lost'] as const).map((end): Scenario => ({
    name: `a dispute of a wallet's top-up that is opened and ${end}, by the policy to revoke`,
    policies: { disputeLost: 'revoke' },
    before: [{ does: 'reserve top-up', id: 'tu_1~' }],
    steps: [
      ...(['pending', 'captured'] as const).map((status) =>
        paid(`evt_${status}`, status, { orderId: null, reference: 'top_up:tu_1~', event: { order_id: null } }),
      ),
      dispute('evt_d1', 'opened', MONDAY, 'dp_1', 4_000, { order_id: null }),
      dispute('evt_d2', end, FRIDAY, 'dp_1', 4_000, { order_id: null }),
    ],
    ends: 'one',
    always: { disputes: [{ status: end }], wallets: [{ balance: end === 'lost' ? 6_000 : 10_000 }] },
  })),
];

import { again, confirm, EVERYTHING, gaveBack, paid, type Happening, type Scenario, type Webhook } from './scenario.ts';

/** Of the second, third payment of the order. */
const of = (n: number, amount = 10_000n) => ({ payment: `pay_${n}~`, amount });
const one = (step: Webhook): Webhook => step;
/** The same at another gateway account. */
const at = (source: 'razorpay' | 'stripe', step: Webhook, body: object): Webhook => ({
  ...{ ...step, source, headers: {}, body },
  happened: step.happened.map((happening): Happening => ({ ...happening, source })),
});
const razorpay = (event: string, id: string, status: 'authorized' | 'captured', amount = 10_000): Webhook =>
  at('razorpay', paid('', status, { payment: id, amount: BigInt(amount) }), {
    ...{ entity: 'event', event, created_at: 1_764_500_000 },
    payload: {
      payment: {
        entity: { id, amount, currency: 'EUR', status, captured: status === 'captured', notes: { order_id: 'ord_1~' } },
      },
    },
  });

/** Several payments of one order: who comes first is kept. */
export const SEVERAL_PAYMENTS: readonly Scenario[] = [
  {
    name: 'two parts that add up',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_1p', 'pending', of(1, 6_000n)), paid('evt_1c', 'captured', of(1, 6_000n)), confirm('1')],
      ...[paid('evt_2p', 'pending', of(2, 4_000n)), paid('evt_2c', 'captured', of(2, 4_000n)), confirm('2', 'pay_2~')],
    ],
    ends: 'rules',
    always: {
      orders: [{ status: 'paid', amount_paid: 10_000 }],
      order_payments: 2,
      refunds: 0,
      points: [{ points: 100 }],
    },
  },
  {
    name: 'two parts with something over, and a third one that nobody asked for',
    steps: [
      ...[paid('evt_1', 'captured', of(1, 6_000n)), paid('evt_2', 'captured', of(2, 6_000n))],
      ...[
        paid('evt_3', 'captured', of(3, 6_000n)),
        again(paid('evt_1', 'captured', of(1, 6_000n))),
        confirm('2', 'pay_2~'),
      ],
    ],
    ends: 'rules',
    always: {
      orders: [{ status: 'paid', amount_paid: 12_000 }],
      order_payments: 2,
      refunds: [{ kind: 'extra_capture', status: 'succeeded' }],
    },
  },
  {
    name: 'a failed part, and two that come to the whole',
    steps: [
      ...[paid('evt_1p', 'pending', of(1, 6_000n)), paid('evt_1f', 'failed', of(1, 6_000n))],
      ...[paid('evt_2', 'captured', of(2, 6_000n)), paid('evt_3', 'captured', of(3, 4_000n)), confirm('1')],
    ],
    ends: 'rules',
    always: { orders: [{ status: 'paid', amount_paid: 10_000 }], order_payments: 2, payments: [{ status: 'failed' }] },
  },
  {
    name: 'the whole twice, by one gateway',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_1p', 'pending', of(1)), paid('evt_1c', 'captured', of(1)), confirm('1')],
      ...[paid('evt_2p', 'pending', of(2)), paid('evt_2c', 'captured', of(2)), confirm('2', 'pay_2~')],
    ],
    ends: 'rules',
    always: {
      orders: [{ status: 'paid', amount_paid: 10_000 }],
      order_payments: 1,
      refunds: [{ kind: 'extra_capture', status: 'succeeded' }],
    },
  },
  {
    name: 'the whole twice, from two gateways',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_1p', 'pending', of(1)), paid('evt_1c', 'captured', of(1)), confirm('1')],
      ...[razorpay('payment.authorized', 'pay_1~', 'authorized'), razorpay('payment.captured', 'pay_1~', 'captured')],
      confirm('2', 'pay_1~', 'razorpay'),
    ],
    ends: 'rules',
    always: {
      orders: [{ status: 'paid', amount_paid: 10_000 }],
      order_payments: 1,
      refunds: [{ kind: 'extra_capture', status: 'succeeded' }],
    },
  },
  {
    name: 'the first attempt fails an hour late, after the second has paid',
    // A failed attempt can become pending again, so that of the two whatever is shown is taken to be the later one.
    prompt: true,
    steps: [
      ...[paid('evt_1p', 'pending', of(1)), paid('evt_2p', 'pending', of(2)), paid('evt_2c', 'captured', of(2))],
      ...[paid('evt_1f', 'failed', of(1)), again(paid('evt_2c', 'captured', of(2)))],
    ],
    ends: 'one',
    always: {
      orders: [{ status: 'paid', paid_payment_id: 'pay_2~' }],
      payments: [{ payment_id: 'pay_1~', status: 'failed' }],
      refunds: 0,
    },
  },
  {
    name: 'the whole twice, and a person gives one of them back at the gateway',
    refundsWait: true,
    steps: [
      ...[paid('evt_1', 'captured', of(1)), paid('evt_2', 'captured', of(2))],
      ...[gaveBack('evt_r', 'rf_1', 'succeeded', 10_000n, { of: 'pay_2~' }), again(paid('evt_1', 'captured', of(1)))],
    ],
    ends: 'rules',
    always: { orders: [{ status: 'paid', amount_paid: 10_000 }], order_payments: 1 },
  },
  {
    name: 'two parts, and some of the first goes back before the order is complete, or after',
    order: { lines: EVERYTHING },
    steps: [
      ...[paid('evt_1', 'captured', of(1, 4_000n)), gaveBack('evt_rp', 'rf_1', 'pending', 1_000n)],
      ...[
        gaveBack('evt_rs', 'rf_1', 'succeeded', 1_000n),
        paid('evt_2', 'captured', of(2, 6_000n)),
        confirm('2', 'pay_2~'),
      ],
    ],
    ends: 'rules',
    always: {
      orders: [{ status: 'paid', amount_paid: 10_000, amount_refunded: 1_000 }],
      ...{ points: [{ points: 90 }], invoices: [{ kind: 'credit_note', amount: 1_000 }], order_payments: 2 },
    },
  },
  {
    name: 'the order is cancelled while the money is on its way, by the policy to give it back',
    policies: { lateCapture: 'refund' },
    steps: [
      paid('evt_p', 'pending'),
      { does: 'cancel' },
      paid('evt_c', 'captured'),
      paid('evt_c2', 'captured'),
      confirm('c'),
    ],
    ends: 'by order status',
    always: { orders: 1 },
  },
  {
    name: 'the order expires while the money is on its way, by the policy to ask a person',
    order: { expires: true },
    policies: { lateCapture: 'review' },
    steps: [
      paid('evt_p', 'pending'),
      { does: 'expire' },
      paid('evt_c', 'captured'),
      one(again(paid('evt_c', 'captured'))),
      confirm('c'),
    ],
    ends: 'by order status',
    always: { orders: 1, refunds: 0 },
  },
  {
    name: 'the order expires when a part of it is paid',
    order: { expires: true },
    steps: [
      ...[
        paid('evt_1', 'captured', of(1, 4_000n)),
        { does: 'expire' } as const,
        paid('evt_2', 'captured', of(2, 4_000n)),
      ],
      ...[confirm('1'), again(paid('evt_2', 'captured', of(2, 4_000n)))],
    ],
    ends: 'rules',
    always: { orders: [{ status: 'expired' }], bookings: 0 },
  },
  {
    name: 'the order is cancelled when a part of it is paid, some of that went back, and then the rest comes',
    steps: [
      ...[paid('evt_1', 'captured', of(1, 4_000n)), gaveBack('evt_r', 'rf_1', 'succeeded', 1_000n)],
      ...[{ does: 'cancel' } as const, paid('evt_2', 'captured', of(2, 6_000n)), confirm('2', 'pay_2~')],
    ],
    ends: 'rules',
    always: { orders: 1 },
  },
  {
    name: 'the order is made, cancelled and paid, in whatever order',
    steps: [
      { does: 'create order' },
      paid('evt_p', 'pending'),
      paid('evt_c', 'captured'),
      { does: 'cancel' },
      confirm('c'),
    ],
    ends: 'by order status',
    always: { orders: 1 },
  },
];

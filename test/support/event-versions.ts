/**
 * Every type of event that an adapter knows, in the shapes in which its gateway has sent it: a table, by type, of what is told and what
 * is read. Facts from the gateways' public references.
 */
export interface Told {
  readonly type: string;
  /** The API's version, or what else sets this shape apart. */
  readonly as: string;
  readonly body: object;
  readonly read: object;
}

const CREATED = 1_764_500_000;
const metadata = { order_id: 'ord_1', paidonce_reference: 'checkout:ord_1:1' };
type Version = 'until 2022-08-01' | '2022-11-15' | '2025-03-31 and later' | 'expanded' | 'least';
const VERSIONS: readonly Version[] = ['until 2022-08-01', '2022-11-15', '2025-03-31 and later', 'expanded', 'least'];

const list = (...data: object[]): object => ({ object: 'list', data, has_more: false });

/** The charge of a payment; until 2022-11-15 its refunds stand in it. */
function charge(version: Version, more: object = {}): object {
  const bare = {
    ...{
      id: 'ch_1',
      object: 'charge',
      amount: 1_999,
      captured: true,
      currency: 'eur',
      payment_intent: 'pi_1',
      status: 'succeeded',
    },
    ...more,
  };
  if (version === 'least') return bare;
  const full = {
    ...bare,
    amount_captured: 1_999,
    amount_refunded: 500,
    livemode: false,
    metadata,
    invoice: null,
    disputed: false,
  };
  if (version === 'until 2022-08-01') return { ...full, refunds: list(refund(version)) };
  return version === 'expanded'
    ? { ...full, payment_intent: { id: 'pi_1', object: 'payment_intent', metadata } }
    : full;
}

/** The intent: with a list of its charges until 2022-11-15, then with the id of the last one. */
function intent(version: Version, status: string): object {
  const bare = { id: 'pi_1', object: 'payment_intent', amount: 1_999, currency: 'eur', status };
  if (version === 'least') return bare;
  const full = { ...bare, amount_received: 1_999, amount_capturable: 1_999, livemode: false, metadata };
  if (version === 'until 2022-08-01') return { ...full, charges: list(charge(version)) };
  return { ...full, latest_charge: version === 'expanded' ? charge('2022-11-15') : 'ch_1' };
}

function refund(version: Version, status = 'succeeded'): object {
  const bare = { id: 're_1', object: 'refund', amount: 500, currency: 'eur', status, payment_intent: 'pi_1' };
  if (version === 'least') return bare;
  const full = {
    ...bare,
    charge: 'ch_1',
    balance_transaction: 'txn_1',
    metadata,
    reason: null,
    destination_details: { type: 'card' },
  };
  return version === 'expanded'
    ? { ...full, charge: charge('2022-11-15'), payment_intent: intent('2022-11-15', 'succeeded') }
    : full;
}

function session(version: Version): object {
  const bare = {
    id: 'cs_1',
    object: 'checkout.session',
    payment_intent: 'pi_1',
    payment_status: 'paid',
    amount_total: 1_999,
    currency: 'eur',
  };
  if (version === 'least') return bare;
  const full = {
    ...bare,
    client_reference_id: 'ord_1',
    metadata: {},
    mode: 'payment',
    livemode: false,
    ui_mode: 'hosted',
  };
  return version === 'expanded' ? { ...full, payment_intent: intent('2022-11-15', 'succeeded') } : full;
}

function payout(version: Version, status: string): object {
  const bare = { id: 'po_1', object: 'payout', amount: 900, currency: 'eur', status };
  const reference = { paidonce_reference: 'payout:s1:2026-11-30' };
  return version === 'least'
    ? bare
    : { ...bare, arrival_date: CREATED, automatic: false, livemode: false, metadata: reference };
}

type Shaped = readonly [type: string, object: (version: Version) => object, read: object];
const paid = (claimed: string): object => ({
  subject: 'payment',
  paymentId: 'pi_1',
  claimed,
  amount: 1_999n,
  currency: 'EUR',
});
const back = (claimed: string): object => ({
  subject: 'refund',
  objectId: 're_1',
  paymentId: 'pi_1',
  claimed,
  amount: 500n,
});
const out = (claimed: string): object => ({
  subject: 'payout',
  objectId: 'po_1',
  claimed,
  amount: 900n,
  currency: 'EUR',
});

const STRIPE_TABLE: readonly Shaped[] = [
  ['payment_intent.processing', (v) => intent(v, 'processing'), paid('pending')],
  ['payment_intent.amount_capturable_updated', (v) => intent(v, 'requires_capture'), paid('authorized')],
  ['payment_intent.succeeded', (v) => intent(v, 'succeeded'), paid('captured')],
  ['payment_intent.payment_failed', (v) => intent(v, 'requires_payment_method'), paid('failed')],
  ['payment_intent.canceled', (v) => intent(v, 'canceled'), paid('expired')],
  ['charge.succeeded', (v) => charge(v), paid('captured')],
  ['charge.captured', (v) => charge(v), paid('captured')],
  // A running total is no refund's own amount.
  ['charge.refunded', (v) => charge(v), { subject: 'refund', paymentId: 'pi_1', claimed: null, amount: null }],
  ['refund.created', (v) => refund(v, 'pending'), back('pending')],
  ['refund.updated', (v) => refund(v), back('succeeded')],
  ['refund.failed', (v) => refund(v, 'failed'), back('failed')],
  ['charge.refund.updated', (v) => refund(v), back('succeeded')],
  ['checkout.session.completed', session, paid('captured')],
  ['payout.paid', (v) => payout(v, 'paid'), out('paid')],
  ['payout.failed', (v) => payout(v, 'failed'), out('failed')],
  ['payout.canceled', (v) => payout(v, 'canceled'), out('failed')],
];

const stripe = (type: string, as: string, more: object, read: object): Told => ({
  ...{ type, as, read: { verdict: 'take', eventId: 'evt_1', mode: 'test', ...read } },
  body: { id: 'evt_1', object: 'event', created: CREATED, livemode: false, type, ...more },
});

/** Each with nothing but an id in place of its object, and as a thin event that tells no object at all. */
const TELLS_NOTHING = { claimed: null, amount: null, currency: null };
const IDS_ALONE: readonly Told[] = [
  'processing',
  'amount_capturable_updated',
  'succeeded',
  'payment_failed',
  'canceled',
].flatMap((last) => {
  const type = `payment_intent.${last}`;
  const read = { ...TELLS_NOTHING, paymentId: 'pi_1', objectId: 'pi_1' };
  return [
    stripe(type, 'an id alone', { data: { object: { id: 'pi_1', object: 'payment_intent' } } }, read),
    stripe(
      `v1.${type}`,
      'thin',
      { object: 'v2.core.event', related_object: { id: 'pi_1', type: 'payment_intent', url: '/' } },
      read,
    ),
  ];
});
const THIN_PAYOUTS: readonly Told[] = ['paid', 'failed', 'canceled'].map((last) =>
  stripe(
    `v1.payout.${last}`,
    'thin',
    { object: 'v2.core.event', related_object: { id: 'po_1', type: 'payout', url: '/' } },
    { ...TELLS_NOTHING, objectId: 'po_1', paymentId: null },
  ),
);
/** A thing that names no payment by its id alone: before a person, never dropped. */
const THIN_OTHERS: readonly Told[] = ['charge.succeeded', 'refund.updated', 'checkout.session.completed'].map((type) =>
  stripe(
    `v1.${type}`,
    'thin',
    { object: 'v2.core.event', related_object: { id: 'x_1', type: type.split('.')[0], url: '/' } },
    { ...TELLS_NOTHING, verdict: 'hold', paymentId: null },
  ),
);

export const STRIPE_VERSIONS: readonly Told[] = [
  ...STRIPE_TABLE.flatMap(([type, object, read]) =>
    VERSIONS.map((version) => stripe(type, version, { api_version: version, data: { object: object(version) } }, read)),
  ),
  ...[...IDS_ALONE, ...THIN_PAYOUTS, ...THIN_OTHERS],
];

type Entities = Readonly<Record<string, object>>;
const notes = { order_id: 'ord_1', paidonce_reference: 'x' };
const payment = (status: string): object => ({
  id: 'pay_1',
  amount: 50_000,
  currency: 'INR',
  status,
  captured: status === 'captured',
  notes,
});
const given = (status: string): object => ({
  id: 'rfnd_1',
  payment_id: 'pay_1',
  amount: 500,
  currency: 'INR',
  status,
  notes: [],
});
const paidOut = (status: string): object => ({
  id: 'pout_1',
  amount: 900,
  currency: 'INR',
  status,
  reference_id: 'r',
  notes: {},
});
const took = (claimed: string): object => ({
  subject: 'payment',
  paymentId: 'pay_1',
  claimed,
  amount: 50_000n,
  currency: 'INR',
});
const gave = (claimed: string): object => ({
  subject: 'refund',
  objectId: 'rfnd_1',
  paymentId: 'pay_1',
  claimed,
  amount: 500n,
});
const sent = (claimed: string): object => ({
  subject: 'payout',
  objectId: 'pout_1',
  paymentId: null,
  claimed,
  amount: 900n,
});

const RAZORPAY_TABLE: readonly (readonly [type: string, entities: Entities, read: object])[] = [
  ['payment.pending', { payment: payment('pending') }, took('pending')],
  ['payment.authorized', { payment: payment('authorized') }, took('authorized')],
  ['payment.captured', { payment: payment('captured') }, took('captured')],
  ['payment.failed', { payment: payment('failed') }, took('failed')],
  ['order.paid', { payment: payment('captured'), order: { id: 'order_1', amount: 50_000, notes } }, took('captured')],
  ['refund.created', { refund: given('created'), payment: payment('captured') }, gave('pending')],
  ['refund.processed', { refund: given('processed'), payment: payment('captured') }, gave('succeeded')],
  ['refund.failed', { refund: given('failed'), payment: payment('captured') }, gave('failed')],
  ['payout.pending', { payout: paidOut('pending') }, sent('pending')],
  ['payout.queued', { payout: paidOut('queued') }, sent('pending')],
  ['payout.initiated', { payout: paidOut('processing') }, sent('pending')],
  ['payout.processed', { payout: paidOut('processed') }, sent('paid')],
  ['payout.reversed', { payout: paidOut('reversed') }, sent('failed')],
  ['payout.rejected', { payout: paidOut('rejected') }, sent('failed')],
  ['payout.failed', { payout: paidOut('failed') }, sent('failed')],
  ['payout.updated', { payout: paidOut('processing') }, sent('pending')],
];

const razorpay = (type: string, as: string, entities: Entities, read: object): Told => {
  const payload = Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }]));
  return {
    type,
    as,
    body: { entity: 'event', event: type, created_at: CREATED, payload },
    read: { verdict: 'take', ...read },
  };
};
/** Only what names the thing. */
const named = (entity: object): object => {
  const { id, payment_id } = entity as { id: string; payment_id?: string };
  return payment_id === undefined ? { id } : { id, payment_id };
};
const withFirst = (entities: Entities, change: (entity: object) => object): Entities =>
  Object.fromEntries(Object.entries(entities).map(([name, entity], at) => [name, at === 0 ? change(entity) : entity]));

export const RAZORPAY_VERSIONS: readonly Told[] = RAZORPAY_TABLE.flatMap(([type, entities, read]) => [
  razorpay(type, 'as it is', entities, read),
  razorpay(
    type,
    'with more',
    withFirst(entities, (entity) => ({ ...entity, entity: 'x', acquirer_data: {}, tax: null, fee: 0 })),
    read,
  ),
  razorpay(
    type,
    'without notes',
    withFirst(entities, (entity) => ({ ...entity, notes: [] })),
    read,
  ),
  // Of a payout that changed nothing but its state tells to what.
  ...(type === 'payout.updated'
    ? []
    : [
        razorpay(type, 'an id alone', withFirst(entities, named), {
          ...read,
          amount: null,
          currency: null,
          claimed: claimOfType(type),
        }),
      ]),
]);

/** A payout's type says all that there is to say; of a payment and a refund the object is asked. */
function claimOfType(type: string): unknown {
  const states: Record<string, string> = {
    ...{ pending: 'pending', queued: 'pending', initiated: 'pending', processed: 'paid' },
    ...{ reversed: 'failed', rejected: 'failed', failed: 'failed' },
  };
  const [subject, last = ''] = type.split('.');
  return subject === 'payout' ? states[last] : null;
}

/** Events as their gateways document them, with more fields than the adapters read. Amounts are never 0. */

interface Shape {
  readonly name: string;
  readonly body: any;
  /** What the adapter must understand of it. */
  readonly read: object;
}

const CREATED = 1_764_500_000;

function stripe(name: string, type: string, object: object, read: object, more: object = {}): Shape {
  const envelope = {
    ...{ id: 'evt_1PqXYZ', object: 'event', api_version: '2026-10-28.endive', created: CREATED, livemode: false },
    ...{ pending_webhooks: 2, request: { id: null, idempotency_key: null }, type, data: { object } },
  };
  return { name: `${name} (${type})`, body: { ...envelope, ...more }, read: { verdict: 'take', ...read } };
}

// prettier-ignore
const intent = {
  id: 'pi_3Pq', object: 'payment_intent', amount: 1999, amount_received: 1999, amount_capturable: 1999,
  amount_details: { tip: {} }, application: null, application_fee_amount: null, canceled_at: null,
  automatic_payment_methods: { allow_redirects: 'always', enabled: true }, capture_method: 'automatic_async',
  client_secret: 'pi_3Pq_secret_x', confirmation_method: 'automatic', created: CREATED, currency: 'eur',
  customer: null, description: null, last_payment_error: null, latest_charge: 'ch_3Pq', livemode: false,
  metadata: { order_id: 'ord_1', paidonce_reference: 'checkout:ord_1:1' }, next_action: null, on_behalf_of: null,
  payment_method: 'pm_1Pq', payment_method_types: ['card', 'ideal'], processing: null, receipt_email: null,
  shipping: null, status: 'succeeded', transfer_data: null,
};
// prettier-ignore
const charge = {
  id: 'ch_3Pq', object: 'charge', amount: 1999, amount_captured: 1999, amount_refunded: 0, application: null,
  balance_transaction: 'txn_3Pq', billing_details: { address: { city: null }, email: null }, captured: true,
  created: CREATED, currency: 'eur', customer: null, disputed: false, failure_code: null, livemode: false,
  metadata: { order_id: 'ord_1' }, outcome: { network_status: 'approved_by_network', risk_score: 9 }, paid: true,
  payment_intent: 'pi_3Pq', payment_method_details: { card: { brand: 'visa', last4: '4242' }, type: 'card' },
  receipt_url: null, refunded: false, review: null, status: 'succeeded', transfer_group: null,
};
// prettier-ignore
const refund = {
  id: 're_3Pq', object: 'refund', amount: 500, balance_transaction: 'txn_4Pq', charge: 'ch_3Pq', created: CREATED,
  currency: 'eur', destination_details: { card: { reference_status: 'pending', type: 'refund' }, type: 'card' },
  metadata: { paidonce_reference: 'refund:ref_1' }, payment_intent: 'pi_3Pq', reason: null, receipt_number: null,
  source_transfer_reversal: null, status: 'succeeded', transfer_reversal: null,
};
// prettier-ignore
const session = {
  id: 'cs_test_a1', object: 'checkout.session', amount_subtotal: 1999, amount_total: 1999, automatic_tax: {},
  cancel_url: null, client_reference_id: 'ord_1', created: CREATED, currency: 'eur', customer: null, metadata: {},
  livemode: false, mode: 'payment', payment_intent: 'pi_3Pq', payment_status: 'paid', status: 'complete', url: null,
};
// prettier-ignore
const dispute = {
  id: 'du_1Pq', object: 'dispute', amount: 1999, balance_transactions: [], charge: 'ch_3Pq', created: CREATED,
  currency: 'eur', evidence: { product_description: null }, evidence_details: { due_by: CREATED }, metadata: {},
  is_charge_refundable: false, livemode: false, payment_intent: 'pi_3Pq', reason: 'general', status: 'lost',
};
// prettier-ignore
const payout = {
  id: 'po_1Pq', object: 'payout', amount: 900, arrival_date: CREATED, automatic: true, balance_transaction: 'txn',
  created: CREATED, currency: 'eur', destination: 'ba_1', failure_code: null, livemode: false, method: 'standard',
  metadata: { paidonce_reference: 'payout:s1:2026-11-30' }, status: 'paid', type: 'bank_account',
};
/** As versions before 2022-11-15 send it: the charges and their refunds inside. */
const { latest_charge: _, amount_details: __, ...olderIntent } = intent;
const listOf = (...data: object[]): object => ({
  object: 'list',
  data,
  has_more: false,
  total_count: data.length,
  url: '/',
});
const older = { api_version: '2020-08-27' };
const paidBy = { subject: 'payment', paymentId: 'pi_3Pq', orderId: 'ord_1', claimed: 'captured', amount: 1999n };
const refundedBy = { subject: 'refund', objectId: 're_3Pq', paymentId: 'pi_3Pq', claimed: 'succeeded', amount: 500n };

// prettier-ignore
export const STRIPE_SHAPES: readonly Shape[] = [
  stripe('a payment', 'payment_intent.succeeded', intent, paidBy),
  stripe('a payment in an older version', 'payment_intent.succeeded', { ...olderIntent, charges: listOf(charge) }, paidBy, older),
  stripe('a payment with its charge expanded', 'payment_intent.succeeded', { ...intent, latest_charge: charge }, paidBy),
  stripe('a payment under way', 'payment_intent.processing', intent, { ...paidBy, claimed: 'pending' }),
  stripe('a hold', 'payment_intent.amount_capturable_updated', intent, { ...paidBy, claimed: 'authorized' }),
  stripe('a declined payment', 'payment_intent.payment_failed', intent, { ...paidBy, claimed: 'failed' }),
  stripe('a canceled payment', 'payment_intent.canceled', intent, { ...paidBy, claimed: 'expired' }),
  stripe('a charge', 'charge.succeeded', charge, paidBy),
  stripe('a charge with its payment expanded', 'charge.captured', { ...charge, payment_intent: intent }, paidBy),
  stripe('a charge by itself', 'charge.succeeded', { ...charge, payment_intent: null }, { ...paidBy, paymentId: 'ch_3Pq' }),
  stripe('a refunded charge', 'charge.refunded', charge, { subject: 'refund', paymentId: 'pi_3Pq', claimed: null, amount: null }),
  stripe('a refunded charge in an older version', 'charge.refunded', { ...charge, refunds: listOf(refund) },
    { subject: 'refund', objectId: 're_3Pq', paymentId: 'pi_3Pq', claimed: null, amount: null }, older),
  stripe('a refund', 'refund.created', refund, refundedBy),
  stripe('a refund with its charge expanded', 'refund.updated', { ...refund, charge, payment_intent: intent }, refundedBy),
  stripe('a refund in an older version', 'charge.refund.updated', refund, refundedBy, older),
  stripe('a refund that came back', 'refund.failed', { ...refund, status: 'failed', failure_reason: 'unknown' }, { ...refundedBy, claimed: 'failed' }),
  stripe('a session', 'checkout.session.completed', session, paidBy),
  stripe('a session with its payment expanded', 'checkout.session.completed', { ...session, payment_intent: intent }, paidBy),
  stripe('a dispute', 'charge.dispute.created', dispute, { subject: 'dispute', paymentId: 'pi_3Pq', claimed: 'opened' }),
  stripe('a lost dispute', 'charge.dispute.closed', { ...dispute, charge }, { subject: 'dispute', objectId: 'du_1Pq', claimed: 'lost' }),
  stripe('a payout', 'payout.paid', payout, { subject: 'payout', objectId: 'po_1Pq', claimed: 'paid', amount: 900n }),
];

function razorpay(name: string, event: string, entities: object, read: object): Shape {
  const payload = Object.fromEntries(Object.entries(entities).map(([key, entity]) => [key, { entity }]));
  const body = {
    ...{ entity: 'event', account_id: 'acc_1', event, contains: Object.keys(entities), payload, created_at: CREATED },
  };
  return { name: `${name} (${event})`, body, read: { verdict: 'take', ...read } };
}

// prettier-ignore
const payment = {
  id: 'pay_DES', entity: 'payment', amount: 50_000, currency: 'INR', base_amount: 50_000, status: 'captured',
  order_id: 'order_DES', invoice_id: null, international: false, method: 'card', amount_refunded: 0, fee: 1_000,
  refund_status: null, captured: true, description: null, card_id: 'card_DES', bank: null, wallet: null, vpa: null,
  card: { id: 'card_DES', entity: 'card', last4: '1111', network: 'Visa', emi: false }, email: 'a@example.com',
  contact: '+910000000000', notes: { order_id: 'ord_1' }, tax: 180, error_code: null, error_description: null,
  error_source: null, error_step: null, error_reason: null, acquirer_data: { auth_code: '1' }, created_at: CREATED,
};
// prettier-ignore
const order = {
  id: 'order_DES', entity: 'order', amount: 50_000, amount_paid: 50_000, amount_due: 0, currency: 'INR', receipt: 'r',
  offer_id: null, status: 'paid', attempts: 1, notes: { order_id: 'ord_1' }, created_at: CREATED,
};
// prettier-ignore
const given = {
  id: 'rfnd_DES', entity: 'refund', amount: 500, currency: 'INR', payment_id: 'pay_DES', receipt: null,
  notes: { paidonce_reference: 'refund:ref_1' }, acquirer_data: { arn: null }, batch_id: null, status: 'processed',
  speed_processed: 'normal', speed_requested: 'optimum', created_at: CREATED,
};
// prettier-ignore
const contested = {
  id: 'disp_DES', entity: 'dispute', payment_id: 'pay_DES', amount: 50_000, currency: 'INR', amount_deducted: 0,
  gateway_dispute_id: 'd', reason_code: 'r', respond_by: CREATED, status: 'open', phase: 'chargeback',
  evidence: { amount: 50_000, summary: null }, created_at: CREATED,
};
// prettier-ignore
const paidOut = {
  id: 'pout_DES', entity: 'payout', fund_account_id: 'fa_1', amount: 900, currency: 'INR', fees: 5, tax: 1,
  notes: { paidonce_reference: 'payout:s1:2026-11-30' }, status: 'processed', purpose: 'payout', utr: null,
  mode: 'IMPS', reference_id: null, narration: 'x', batch_id: null, status_details: {}, created_at: CREATED,
};
const capturedBy = { subject: 'payment', paymentId: 'pay_DES', orderId: 'ord_1', claimed: 'captured', amount: 50_000n };
const givenBy = { subject: 'refund', objectId: 'rfnd_DES', paymentId: 'pay_DES', orderId: 'ord_1', amount: 500n };

// prettier-ignore
export const RAZORPAY_SHAPES: readonly Shape[] = [
  razorpay('a payment', 'payment.captured', { payment }, capturedBy),
  razorpay('a hold', 'payment.authorized', { payment }, { ...capturedBy, claimed: 'authorized' }),
  razorpay('a failed payment', 'payment.failed', { payment }, { ...capturedBy, claimed: 'failed' }),
  razorpay('cash on delivery', 'payment.pending', { payment }, { ...capturedBy, claimed: 'pending' }),
  razorpay('an order', 'order.paid', { payment: { ...payment, notes: [] }, order }, capturedBy),
  razorpay('a refund under way', 'refund.created', { refund: given, payment }, { ...givenBy, claimed: 'pending' }),
  razorpay('a refund', 'refund.processed', { refund: given, payment }, { ...givenBy, claimed: 'succeeded' }),
  razorpay('a refund alone', 'refund.processed', { refund: given }, { ...givenBy, orderId: null }),
  razorpay('a failed refund', 'refund.failed', { refund: given, payment }, { ...givenBy, claimed: 'failed' }),
  razorpay('a dispute', 'payment.dispute.created', { payment, dispute: contested }, { subject: 'dispute', claimed: 'opened' }),
  razorpay('a lost dispute', 'payment.dispute.lost', { dispute: contested }, { objectId: 'disp_DES', claimed: 'lost' }),
  razorpay('a payout', 'payout.processed', { payout: paidOut }, { subject: 'payout', claimed: 'paid', amount: 900n }),
  razorpay('a payout that changed', 'payout.updated', { payout: paidOut }, { subject: 'payout', claimed: 'paid' }),
];

import { describe, expect, it } from 'vitest';
import { readStripeEvent } from '../../src/gateways/stripe/read-event.ts';

const INTENT = {
  id: 'pi_1',
  object: 'payment_intent',
  amount: 1999,
  amount_received: 1999,
  amount_capturable: 0,
  currency: 'eur',
  status: 'succeeded',
  metadata: { order_id: 'ord_1', paidonce_reference: 'checkout:ord_1:1' },
};
const CHARGE = {
  id: 'ch_1',
  object: 'charge',
  amount: 1999,
  amount_captured: 1500,
  captured: true,
  currency: 'eur',
  status: 'succeeded',
  payment_intent: 'pi_1',
  metadata: { order_id: 'ord_1' },
};
const REFUND = {
  id: 're_1',
  object: 'refund',
  amount: 500,
  currency: 'eur',
  status: 'succeeded',
  charge: 'ch_1',
  payment_intent: 'pi_1',
  metadata: { paidonce_reference: 'refund:ref_1' },
};
const SESSION = {
  id: 'cs_1',
  object: 'checkout.session',
  amount_total: 1999,
  currency: 'eur',
  payment_intent: 'pi_1',
  payment_status: 'paid',
  client_reference_id: 'ord_1',
  metadata: {},
};
const DISPUTE = {
  id: 'du_1',
  object: 'dispute',
  amount: 1999,
  currency: 'eur',
  status: 'needs_response',
  charge: 'ch_1',
  payment_intent: 'pi_1',
};
const PAYOUT = { id: 'po_1', object: 'payout', amount: 900, currency: 'eur', status: 'paid', metadata: {} };

function envelope(type: string, object: unknown, more: object = {}): object {
  return { id: 'evt_1', object: 'event', type, created: 1_764_500_000, livemode: false, data: { object }, ...more };
}

function read(type: string, object: unknown, more: object = {}) {
  return readStripeEvent(Buffer.from(JSON.stringify(envelope(type, object, more))));
}

describe('a Stripe event', () => {
  it('is read whole', () => {
    expect(read('payment_intent.succeeded', INTENT)).toEqual({
      verdict: 'take',
      reason: null,
      eventId: 'evt_1',
      eventType: 'payment_intent.succeeded',
      subject: 'payment',
      objectId: 'pi_1',
      paymentId: 'pi_1',
      orderId: 'ord_1',
      claimed: 'captured',
      amount: 1999n,
      currency: 'EUR',
      fee: null,
      withheld: null,
      mode: 'test',
      occurredAt: 1_764_500_000_000,
      reference: 'checkout:ord_1:1',
    });
    expect(read('payment_intent.succeeded', INTENT, { livemode: true }).mode).toBe('live');
  });

  it.each([
    ['payment_intent.processing', { ...INTENT, status: 'processing' }, 'pending', 1999n],
    ['payment_intent.succeeded', { ...INTENT, amount_received: 1200 }, 'captured', 1200n],
    ['payment_intent.payment_failed', { ...INTENT, status: 'requires_payment_method' }, 'failed', 1999n],
    ['payment_intent.canceled', { ...INTENT, status: 'canceled' }, 'expired', 1999n],
    ['payment_intent.amount_capturable_updated', { ...INTENT, amount_capturable: 1800 }, 'authorized', 1800n],
    ['charge.succeeded', CHARGE, 'captured', 1500n],
    ['charge.succeeded', { ...CHARGE, captured: false }, 'authorized', 1999n],
    ['charge.captured', CHARGE, 'captured', 1500n],
    ['checkout.session.completed', SESSION, 'captured', 1999n],
    ['checkout.session.completed', { ...SESSION, payment_status: 'unpaid' }, 'pending', 1999n],
  ])('%s is about its payment', (type, object, claimed, amount) => {
    expect(read(type, object)).toMatchObject({
      verdict: 'take',
      subject: 'payment',
      objectId: 'pi_1',
      paymentId: 'pi_1',
      orderId: 'ord_1',
      claimed,
      amount,
      currency: 'EUR',
    });
  });

  it.each([
    ['refund.created', { ...REFUND, status: 'pending' }, 'pending'],
    ['refund.created', { ...REFUND, status: null }, 'pending'],
    ['refund.updated', { ...REFUND, status: 'requires_action' }, 'pending'],
    ['refund.updated', REFUND, 'succeeded'],
    ['charge.refund.updated', { ...REFUND, status: 'canceled' }, 'failed'],
    ['refund.failed', { ...REFUND, status: 'failed' }, 'failed'],
  ])('%s is about one refund, matched by its own id and our reference', (type, object, claimed) => {
    expect(read(type, object)).toMatchObject({
      verdict: 'take',
      subject: 'refund',
      objectId: 're_1',
      paymentId: 'pi_1',
      claimed,
      amount: 500n,
      reference: 'refund:ref_1',
    });
  });

  it('charge.refunded says that refunds have changed, whether its version lists them or not', () => {
    const hint = {
      verdict: 'take',
      subject: 'refund',
      paymentId: 'pi_1',
      orderId: 'ord_1',
      claimed: null,
      amount: null,
    };
    expect(read('charge.refunded', { ...CHARGE, amount_refunded: 500 })).toMatchObject({ ...hint, objectId: null });
    const listed = { ...CHARGE, amount_refunded: 500, refunds: { object: 'list', data: [REFUND] } };
    expect(read('charge.refunded', listed)).toMatchObject({ ...hint, objectId: 're_1', reference: 'refund:ref_1' });
  });

  it.each([
    ['charge.refunded', { ...CHARGE, captured: false, refunded: true, amount_refunded: 1999 }],
    ['refund.created', { ...REFUND, balance_transaction: null }],
    ['refund.updated', { ...REFUND, reason: 'expired_uncaptured_charge' }],
    ['charge.refund.updated', { ...REFUND, balance_transaction: null }],
  ])('%s about an authorization that was given up is a hint about the payment, and no refund', (type, object) => {
    expect(read(type, object)).toMatchObject({
      ...{ verdict: 'take', subject: 'payment', objectId: 'pi_1', paymentId: 'pi_1', claimed: null, amount: null },
    });
  });

  it('a refund that waits for the bank is a refund, though the balance has not moved yet', () => {
    const pending = { ...REFUND, status: 'pending', balance_transaction: null };
    expect(read('refund.created', pending)).toMatchObject({ subject: 'refund', objectId: 're_1', claimed: 'pending' });
  });

  it.each([
    ['charge.dispute.created', DISPUTE, 'opened'],
    ['charge.dispute.created', { ...DISPUTE, status: 'warning_needs_response' }, 'opened'],
    ['charge.dispute.closed', { ...DISPUTE, status: 'won' }, 'won'],
    ['charge.dispute.closed', { ...DISPUTE, status: 'warning_closed' }, 'won'],
    ['charge.dispute.closed', { ...DISPUTE, status: 'lost' }, 'lost'],
  ])('%s is about a dispute of the payment', (type, object, claimed) => {
    expect(read(type, object)).toMatchObject({
      verdict: 'take',
      subject: 'dispute',
      objectId: 'du_1',
      paymentId: 'pi_1',
      claimed,
    });
  });

  it.each([
    ['payout.paid', 'paid'],
    ['payout.failed', 'failed'],
    ['payout.canceled', 'failed'],
  ])('%s is about a payout and no payment', (type, claimed) => {
    const ours = { ...PAYOUT, metadata: { paidonce_reference: 'payout:s1:2026-11-30' } };
    expect(read(type, ours)).toMatchObject({
      verdict: 'take',
      subject: 'payout',
      objectId: 'po_1',
      paymentId: null,
      claimed,
      amount: 900n,
      reference: 'payout:s1:2026-11-30',
    });
  });

  it('names the same payment whether the intent is expanded or not, and a charge without one by itself', () => {
    const expanded = { ...INTENT, metadata: { order_id: 'ord_2' } };
    const bare = { ...CHARGE, metadata: {} };
    expect(read('charge.succeeded', { ...bare, payment_intent: expanded })).toMatchObject({
      paymentId: 'pi_1',
      orderId: 'ord_2',
    });
    expect(read('charge.succeeded', { ...bare, payment_intent: null })).toMatchObject({
      paymentId: 'ch_1',
      objectId: 'ch_1',
    });
    const { payment_intent: _, ...older } = bare;
    expect(read('charge.succeeded', older)).toMatchObject({ verdict: 'take', paymentId: 'ch_1', orderId: null });
    expect(read('refund.created', { ...REFUND, payment_intent: null, charge: { id: 'ch_1' } }).paymentId).toBe('ch_1');
    expect(read('checkout.session.completed', { ...SESSION, payment_intent: INTENT }).paymentId).toBe('pi_1');
  });

  it('takes the order from metadata before the client reference', () => {
    expect(read('checkout.session.completed', { ...SESSION, metadata: { order_id: 'ord_7' } }).orderId).toBe('ord_7');
    expect(read('checkout.session.completed', { ...SESSION, metadata: null }).orderId).toBe('ord_1');
    expect(read('payment_intent.succeeded', { ...INTENT, metadata: { order_id: '' } }).orderId).toBeNull();
  });

  it('of an older version, with fewer fields, misses nothing and makes nothing up', () => {
    const { amount_received: _, ...older } = INTENT;
    expect(read('payment_intent.succeeded', older)).toMatchObject({ verdict: 'take', amount: 1999n });
    const { amount: _amount, ...amountless } = older;
    expect(read('payment_intent.succeeded', amountless)).toMatchObject({
      verdict: 'take',
      claimed: 'captured',
      amount: null,
    });
    const { currency: _currency, ...currencyless } = older;
    expect(read('payment_intent.succeeded', currencyless)).toMatchObject({
      verdict: 'take',
      amount: null,
      currency: null,
    });
  });

  it('of ids alone says look, and claims nothing', () => {
    expect(read('payment_intent.succeeded', { id: 'pi_1', object: 'payment_intent' })).toMatchObject({
      verdict: 'take',
      paymentId: 'pi_1',
      claimed: null,
      amount: null,
    });
    const thin = {
      id: 'evt_2',
      object: 'v2.core.event',
      type: 'v1.payment_intent.succeeded',
      created: '2026-11-30T10:00:00.000Z',
      livemode: true,
      related_object: { id: 'pi_9', type: 'payment_intent', url: '/v1/payment_intents/pi_9' },
    };
    expect(readStripeEvent(Buffer.from(JSON.stringify(thin)))).toMatchObject({
      verdict: 'take',
      eventId: 'evt_2',
      eventType: 'v1.payment_intent.succeeded',
      subject: 'payment',
      objectId: 'pi_9',
      paymentId: 'pi_9',
      claimed: null,
      mode: 'live',
      occurredAt: Date.parse('2026-11-30T10:00:00Z'),
    });
    const charge = { ...thin, type: 'v1.charge.succeeded', related_object: { id: 'ch_9', type: 'charge' } };
    expect(readStripeEvent(Buffer.from(JSON.stringify(charge)))).toMatchObject({ verdict: 'hold', paymentId: null });
  });

  it.each(['customer.created', 'payment_intent.created', 'constructor', '__proto__', 'v1.nothing'])(
    'of type %s is ignored with a reason',
    (type) => {
      const reading = read(type, { id: 'x' });
      expect(reading).toMatchObject({ verdict: 'ignore', eventType: type, eventId: 'evt_1' });
      expect(reading.reason).toContain(type);
    },
  );

  it('about a session that has no payment is ignored', () => {
    const free = { ...SESSION, payment_intent: null, payment_status: 'no_payment_required' };
    expect(read('checkout.session.completed', free)).toMatchObject({ verdict: 'ignore' });
  });

  it.each<[string, string, unknown, object?]>([
    ['without an object', 'payment_intent.succeeded', undefined],
    ['whose object is a list', 'payment_intent.succeeded', []],
    ['without a payment id', 'payment_intent.succeeded', { ...INTENT, id: undefined }],
    ['with a payment id of 201 characters', 'payment_intent.succeeded', { ...INTENT, id: 'p'.repeat(201) }],
    ['with a NUL in its payment id', 'payment_intent.succeeded', { ...INTENT, id: 'pi_\u0000' }],
    ['with a space in its order id', 'payment_intent.succeeded', { ...INTENT, metadata: { order_id: 'ord 1' } }],
    ['with emoji in its order id', 'payment_intent.succeeded', { ...INTENT, metadata: { order_id: '😊' } }],
    ['with half a pair in its order id', 'payment_intent.succeeded', { ...INTENT, metadata: { order_id: '\ud800' } }],
    ['with a negative amount', 'payment_intent.succeeded', { ...INTENT, amount_received: -1 }],
    ['with a fraction for an amount', 'payment_intent.succeeded', { ...INTENT, amount_received: 19.99 }],
    ['with a currency that is none', 'payment_intent.succeeded', { ...INTENT, currency: 'euro' }],
    ['about a refund of nothing', 'refund.created', { ...REFUND, payment_intent: null, charge: null }],
    ['about a refund in a new state', 'refund.updated', { ...REFUND, status: 'teleported' }],
    ['about a dispute with a new end', 'charge.dispute.closed', { ...DISPUTE, status: 'drawn' }],
    ['about a payout without an id', 'payout.paid', { ...PAYOUT, id: undefined }],
    ['with a NUL in its own id', 'payment_intent.succeeded', INTENT, { id: 'evt_\u0000' }],
    ['with a number for its id', 'payment_intent.succeeded', INTENT, { id: 7 }],
    ['of a connected account', 'payment_intent.succeeded', INTENT, { account: 'acct_2' }],
  ])('%s is held with a reason', (_name, type, object, more = {}) => {
    const reading = read(type, object, more);
    expect(reading.verdict).toBe('hold');
    expect(reading.reason).toMatch(/^[A-Z].*\.$/);
  });

  it('keeps what it says beside what a human must look at', () => {
    expect(read('charge.dispute.closed', { ...DISPUTE, status: 'drawn' })).toMatchObject({
      objectId: 'du_1',
      paymentId: 'pi_1',
    });
    expect(read('payment_intent.succeeded', { ...INTENT, amount_received: -1 })).toMatchObject({
      orderId: 'ord_1',
      amount: null,
    });
  });

  it('without an id is taken: one is derived from the fact', () => {
    expect(read('payment_intent.succeeded', INTENT, { id: undefined })).toMatchObject({
      verdict: 'take',
      eventId: null,
    });
  });

  it.each([
    ['not JSON', Buffer.from('hello')],
    ['empty', Buffer.alloc(0)],
    ['a list', Buffer.from('[]')],
    ['null', Buffer.from('null')],
    ['a byte of no character', Buffer.from([0x7b, 0xff, 0x7d])],
    ['behind a byte order mark', Buffer.from(`\ufeff${JSON.stringify(envelope('payment_intent.succeeded', INTENT))}`)],
    ['20,000 brackets', Buffer.from('['.repeat(20_000) + ']'.repeat(20_000))],
    ['without a type', Buffer.from('{"id":"evt_1"}')],
    ['of a type of 5 KB', Buffer.from(JSON.stringify({ id: 'evt_1', type: 'x'.repeat(5_000) }))],
    ['of a type with a NUL', Buffer.from('{"type":"a\\u0000b"}')],
  ])('whose body is %s is held as unreadable', (_name, body) => {
    expect(readStripeEvent(body)).toMatchObject({ verdict: 'hold', eventType: 'unreadable', subject: null });
  });

  it('ignores a reference that is none of ours instead of storing what cannot be stored', () => {
    const odd = { ...INTENT, metadata: { order_id: 'ord_1', paidonce_reference: 'a\u0000b' } };
    expect(read('payment_intent.succeeded', odd)).toMatchObject({ verdict: 'take', reference: null });
  });
});

import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { InvalidSignature } from '../../src/domain/gateway-error.ts';
import type { WebhookSecret } from '../../src/domain/source-config.ts';
import { readRazorpayEvent } from '../../src/gateways/razorpay/read-event.ts';
import { createRazorpayVerifier } from '../../src/gateways/razorpay/verify-webhook.ts';

const NOW = 1_764_500_000_000;

function refusal(signature: string | string[] | undefined, body: Uint8Array, secrets: WebhookSecret[]): string | null {
  try {
    createRazorpayVerifier(secrets)({ body, headers: { 'x-razorpay-signature': signature }, now: NOW });
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidSignature);
    return (error as InvalidSignature).reason;
  }
}

function always(...secrets: string[]): WebhookSecret[] {
  return secrets.map((secret) => ({ secret, eventsBefore: null }));
}

function sign(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

describe('a Razorpay signature', () => {
  it('holds where another implementation of HMAC computed it', () => {
    const published = '2fe04e22977002e6c7cb553adab8b460cb9e2a4970d5953cb27a8472752e3bbc';
    expect(refusal(published, Buffer.from('{"a":1,"b":2,"c":{"d":3}}'), always('123456'))).toBeNull();
  });

  it('covers the last newline of the body, too', () => {
    const body = Buffer.from('{"event":"payment.captured","account_id":"acc_paidonce"}\n');
    const known = '7914cf89a1b5f32fe0e5072276afdfd6a1d6433aade9a6dc8b9e077d0ba6c548';
    expect(refusal(known, body, always('rzp-known-answer'))).toBeNull();
    expect(refusal(known, body.subarray(0, -1), always('rzp-known-answer'))).toBe('mismatch');
  });

  it.each([
    ['emoji', Buffer.from('{"name":"😊"}')],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['a byte of no character', Buffer.from([0x7b, 0xff, 0x7d])],
    ['nothing at all', Buffer.alloc(0)],
  ])('covers the bytes as received: %s', (_name, body) => {
    expect(refusal(sign(body, 'one'), body, always('two', 'one'))).toBeNull();
    expect(refusal(sign(body, 'three'), body, always('two', 'one'))).toBe('mismatch');
  });

  it.each<[string, string | string[] | undefined, string]>([
    ['missing', undefined, 'missing'],
    ['empty', '', 'missing'],
    ['an empty list', [], 'missing'],
    ['a list', ['a'.repeat(64), 'a'.repeat(64)], 'malformed'],
    ['twice, as node joins it', `${'a'.repeat(64)}, ${'a'.repeat(64)}`, 'malformed'],
    ['upper case', 'A'.repeat(64), 'malformed'],
    ['too short', 'a'.repeat(63), 'malformed'],
    ['bad hex', 'z'.repeat(64), 'malformed'],
    ['odd bytes', 'é'.repeat(64), 'malformed'],
    ['100 KB', 'a'.repeat(100_000), 'malformed'],
    ['of another body', sign(Buffer.from('{"a":1}'), 'one'), 'mismatch'],
  ])('that is %s is refused, and nothing else is thrown', (_name, signature, reason) => {
    expect(refusal(signature, Buffer.from('{}'), always('one'))).toBe(reason);
  });

  it('is never made with a blank secret', () => {
    const body = Buffer.from('{}');
    expect(refusal(sign(body, ''), body, always(''))).toBe('mismatch');
  });

  it('of an older secret holds for the retries of older events only', () => {
    const secrets = [...always('new'), { secret: 'old', eventsBefore: NOW }];
    const event = (created: unknown) => Buffer.from(JSON.stringify({ event: 'payment.captured', created_at: created }));
    const with_ = (secret: string, body: Buffer) => refusal(sign(body, secret), body, secrets);
    expect(with_('old', event(NOW / 1000 - 1))).toBeNull();
    expect(with_('old', event(NOW / 1000))).toBe('mismatch');
    expect(with_('old', event(undefined))).toBe('mismatch');
    expect(with_('old', Buffer.from('no JSON'))).toBe('mismatch');
    expect(with_('new', event(NOW / 1000))).toBeNull();
    expect(with_('new', Buffer.from('no JSON'))).toBeNull();
  });
});

const PAYMENT = {
  id: 'pay_1',
  entity: 'payment',
  amount: 50_000,
  currency: 'INR',
  status: 'captured',
  order_id: 'order_rzp',
  notes: { order_id: 'ord_1' },
};
const REFUND = {
  id: 'rfnd_1',
  entity: 'refund',
  amount: 500,
  currency: 'INR',
  payment_id: 'pay_1',
  status: 'processed',
  notes: { paidonce_reference: 'refund:ref_1' },
};
const DISPUTE = {
  id: 'disp_1',
  entity: 'dispute',
  payment_id: 'pay_1',
  amount: 50_000,
  currency: 'INR',
  status: 'open',
};
const PAYOUT = {
  id: 'pout_1',
  entity: 'payout',
  amount: 900,
  currency: 'INR',
  status: 'processed',
  notes: [],
  reference_id: 'x',
};

function read(event: string, entities: Record<string, unknown>, headers: Record<string, string> = {}) {
  const payload = Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }]));
  const body = {
    entity: 'event',
    account_id: 'acc_1',
    event,
    contains: Object.keys(payload),
    payload,
    created_at: 1_764_500_000,
  };
  return readRazorpayEvent(Buffer.from(JSON.stringify(body)), headers);
}

describe('a Razorpay event', () => {
  it('is read whole', () => {
    expect(read('payment.captured', { payment: PAYMENT }, { 'x-razorpay-event-id': 'evt_1' })).toEqual({
      verdict: 'take',
      reason: null,
      eventId: 'evt_1',
      eventType: 'payment.captured',
      subject: 'payment',
      objectId: 'pay_1',
      paymentId: 'pay_1',
      orderId: 'ord_1',
      claimed: 'captured',
      amount: 50_000n,
      currency: 'INR',
      fee: null,
      withheld: null,
      mode: null,
      occurredAt: 1_764_500_000_000,
      reference: null,
    });
  });

  it('without an id, or with one that is none, is taken: one is derived from the fact', () => {
    expect(read('payment.captured', { payment: PAYMENT })).toMatchObject({ verdict: 'take', eventId: null });
    const odd = { 'x-razorpay-event-id': 'a b' };
    expect(read('payment.captured', { payment: PAYMENT }, odd)).toMatchObject({ verdict: 'take', eventId: null });
  });

  it.each([
    ['payment.pending', 'pending'],
    ['payment.authorized', 'authorized'],
    ['payment.captured', 'captured'],
    ['payment.failed', 'failed'],
    ['order.paid', 'captured'],
  ])('%s is about its payment', (type, claimed) => {
    const order = { id: 'order_rzp', entity: 'order', notes: { order_id: 'ord_1' } };
    const paid = type === 'order.paid' ? { payment: { ...PAYMENT, notes: [] }, order } : { payment: PAYMENT };
    expect(read(type, paid)).toMatchObject({
      verdict: 'take',
      subject: 'payment',
      paymentId: 'pay_1',
      orderId: 'ord_1',
      claimed,
    });
  });

  it.each([
    ['refund.created', 'pending'],
    ['refund.processed', 'succeeded'],
    ['refund.failed', 'failed'],
  ])('%s is about one refund, with its own amount', (type, claimed) => {
    expect(read(type, { refund: REFUND, payment: PAYMENT })).toMatchObject({
      verdict: 'take',
      subject: 'refund',
      objectId: 'rfnd_1',
      paymentId: 'pay_1',
      orderId: 'ord_1',
      claimed,
      amount: 500n,
      reference: 'refund:ref_1',
    });
  });

  it.each([
    ['refund.created', 'refunded', 'expired'],
    ['refund.processed', 'refunded', 'expired'],
    ['refund.failed', 'authorized', null],
  ])('%s about an authorization that went back is about its payment, and no refund', (type, status, claimed) => {
    const payment = { ...PAYMENT, status, captured: false };
    expect(read(type, { refund: { ...REFUND, notes: [] }, payment })).toMatchObject({
      ...{ verdict: 'take', subject: 'payment', objectId: 'pay_1', paymentId: 'pay_1', orderId: 'ord_1', claimed },
      amount: 50_000n,
    });
  });

  it.each([
    ['payment.dispute.created', 'open', 'opened'],
    ['payment.dispute.under_review', 'under_review', 'opened'],
    ['payment.dispute.action_required', 'open', 'opened'],
    ['payment.dispute.won', 'won', 'won'],
    ['payment.dispute.lost', 'lost', 'lost'],
    ['payment.dispute.closed', 'closed', 'won'],
    ['payment.dispute.closed', 'lost', 'lost'],
  ])('%s (%s) is about a dispute of the payment', (type, status, claimed) => {
    const reading = read(type, { dispute: { ...DISPUTE, status }, payment: PAYMENT });
    expect(reading).toMatchObject({
      verdict: 'take',
      subject: 'dispute',
      objectId: 'disp_1',
      paymentId: 'pay_1',
      claimed,
    });
  });

  it.each([
    ['payout.queued', {}, 'pending'],
    ['payout.processed', {}, 'paid'],
    ['payout.reversed', {}, 'failed'],
    ['payout.rejected', {}, 'failed'],
    ['payout.failed', {}, 'failed'],
    ['payout.updated', { status: 'processed' }, 'paid'],
    ['payout.updated', { status: 'processing' }, 'pending'],
  ])('%s %o is about a payout and no payment', (type, more, claimed) => {
    expect(read(type, { payout: { ...PAYOUT, ...more } })).toMatchObject({
      verdict: 'take',
      subject: 'payout',
      objectId: 'pout_1',
      paymentId: null,
      claimed,
      reference: null,
    });
  });

  it('of ids alone says look, and claims nothing; a missing amount is not zero', () => {
    expect(read('payment.captured', { payment: { id: 'pay_1' } })).toMatchObject({
      verdict: 'take',
      claimed: null,
      amount: null,
    });
    const { amount: _, ...amountless } = PAYMENT;
    expect(read('payment.captured', { payment: amountless })).toMatchObject({
      verdict: 'take',
      claimed: 'captured',
      amount: null,
    });
  });

  it('takes a number in the notes for an order id', () => {
    expect(read('payment.captured', { payment: { ...PAYMENT, notes: { order_id: 42 } } }).orderId).toBe('42');
    expect(read('payment.captured', { payment: { ...PAYMENT, notes: [] } }).orderId).toBeNull();
  });

  it.each([
    ['JPY', 500, 500n],
    ['KWD', 1234, 1234n],
    ['EUR', 1999, 1999n],
  ])('in %s has its amount literally', (currency, literal, amount) => {
    expect(read('payment.captured', { payment: { ...PAYMENT, currency, amount: literal } })).toMatchObject({
      verdict: 'take',
      amount,
    });
  });

  it.each(['payment.downtime.started', 'refund.speed_changed', 'payout.downtime.started', 'constructor'])(
    'of type %s is ignored with a reason',
    (type) => {
      const reading = read(type, { payment: PAYMENT });
      expect(reading).toMatchObject({ verdict: 'ignore', eventType: type });
      expect(reading.reason).toContain(type);
    },
  );

  it.each<[string, string, Record<string, unknown>]>([
    ['without a payment', 'payment.captured', {}],
    ['with a payment id that is none', 'payment.captured', { payment: { ...PAYMENT, id: 'pay 1' } }],
    [
      'with an order id that is none',
      'payment.captured',
      { payment: { ...PAYMENT, notes: { order_id: 'ord\u0000' } } },
    ],
    ['with a fraction for an amount', 'payment.captured', { payment: { ...PAYMENT, amount: 0.5 } }],
    [
      'in a currency that is counted nobody knows how',
      'payment.captured',
      { payment: { ...PAYMENT, currency: 'ISK' } },
    ],
    ['about a refund of nothing', 'refund.processed', { refund: { ...REFUND, payment_id: null } }],
    ['about a payout in a new state', 'payout.updated', { payout: { ...PAYOUT, status: 'lost' } }],
    ['about a payout without an id', 'payout.processed', { payout: { ...PAYOUT, id: undefined } }],
  ])('%s is held with a reason', (_name, type, entities) => {
    const reading = read(type, entities);
    expect(reading.verdict).toBe('hold');
    expect(reading.reason).toMatch(/^[A-Z].*\.$/);
  });

  it.each([
    ['no JSON', Buffer.from('hello')],
    ['a byte of no character', Buffer.from([0x7b, 0xff, 0x7d])],
    ['20,000 brackets', Buffer.from('['.repeat(20_000) + ']'.repeat(20_000))],
    ['no event', Buffer.from('{}')],
  ])('whose body is %s is held as unreadable, under its id', (_name, body) => {
    const reading = readRazorpayEvent(body, { 'x-razorpay-event-id': 'evt_1' });
    expect(reading).toMatchObject({ verdict: 'hold', eventType: 'unreadable', eventId: 'evt_1' });
  });

  it('of an amount beyond what a number carries is held, never rounded', () => {
    const entity = '{"id":"pay_1","status":"captured","currency":"INR","amount":9007199254740993}';
    const body = Buffer.from(`{"event":"payment.captured","payload":{"payment":{"entity":${entity}}}}`);
    expect(readRazorpayEvent(body, {})).toMatchObject({ verdict: 'hold', amount: null });
  });
});

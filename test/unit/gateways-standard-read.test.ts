import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../src/gateways/exact-json.ts';
import { readEvent } from '../../src/gateways/standard/read-event.ts';

const SENT_AT = Date.parse('2026-11-30T12:00:00Z');
const HEADERS = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(SENT_AT / 1000) };
const DATA = {
  payment_id: 'pay_1',
  order_id: 'ord_1',
  status: 'captured',
  amount: 4990,
  currency: 'eur',
  mode: 'test',
  reference: 'ref:1',
};

function readText(text: string | Uint8Array) {
  return readEvent(Buffer.from(text), HEADERS);
}

function read(type: string, data: unknown = DATA, more: object = {}) {
  return readText(JSON.stringify({ type, timestamp: '2026-11-30T11:59:58.250Z', data, ...more }));
}

/** An event whose amount stands there as written, which no object of JavaScript could hold. */
function withAmount(literal: string) {
  return readText(`{"type":"payment.captured","data":{"payment_id":"pay_1","amount":${literal},"currency":"EUR"}}`);
}

describe('an event that is understood', () => {
  it('says all that it carries', () => {
    expect(read('payment.captured')).toEqual({
      verdict: 'take',
      reason: null,
      eventId: 'evt_1',
      eventType: 'payment.captured',
      subject: 'payment',
      objectId: 'pay_1',
      paymentId: 'pay_1',
      orderId: 'ord_1',
      claimed: 'captured',
      amount: 4990n,
      currency: 'EUR',
      fee: null,
      withheld: null,
      mode: 'test',
      occurredAt: Date.parse('2026-11-30T11:59:58.250Z'),
      reference: 'ref:1',
    });
  });

  it('says what a dispute costs; nothing else has a fee, and one that is no whole number is held', () => {
    const about = { payment_id: 'pay_1', dispute_id: 'dp_1' };
    expect(read('dispute.lost', { ...about, fee: 1_500 })).toMatchObject({ verdict: 'take', fee: 1_500n });
    expect(read('dispute.lost', { ...about, fee: 1.5 })).toMatchObject({ verdict: 'hold', fee: null });
    expect(read('payment.captured', { ...DATA, fee: 1_500 })).toMatchObject({ verdict: 'take', fee: null });
  });

  it.each([
    ...['pending', 'authorized', 'captured', 'failed', 'expired'].map((state) => ['payment', state, 'pay_1']),
    ...['pending', 'succeeded', 'failed'].map((state) => ['refund', state, 'rf_1']),
    ...['opened', 'won', 'lost'].map((state) => ['dispute', state, 'dp_1']),
    ...['paid', 'failed'].map((state) => ['payout', state, 'po_1']),
  ])('%s.%s claims its state and names its object', (subject, state, objectId) => {
    const ids = { payment_id: 'pay_1', refund_id: 'rf_1', dispute_id: 'dp_1', payout_id: 'po_1' };
    expect(read(`${subject}.${state}`, ids)).toMatchObject({ verdict: 'take', subject, claimed: state, objectId });
  });

  it('claims what its status says, where the object has moved on since', () => {
    expect(read('refund.pending', { ...DATA, refund_id: 'rf_1', status: 'succeeded' })).toMatchObject({
      claimed: 'succeeded',
    });
  });

  it.each([undefined, null, 'a word of its own', 7])('claims what its type says, where its status is %s', (status) => {
    expect(read('payment.authorized', { ...DATA, status })).toMatchObject({ verdict: 'take', claimed: 'authorized' });
  });

  it.each([undefined, null])('has no amount where the amount is %s, and never zero', (amount) => {
    expect(read('payment.captured', { ...DATA, amount, currency: amount })).toMatchObject({
      verdict: 'take',
      amount: null,
      currency: null,
    });
  });

  it.each([
    ['0', 0n],
    ['4990', 4990n],
    ['"4990"', 4990n],
    ['9007199254740991', 9_007_199_254_740_991n],
  ])('reads the amount %s exactly', (literal, amount) => {
    expect(withAmount(literal)).toMatchObject({ verdict: 'take', amount });
  });

  it('a refund needs no order and no id of its own', () => {
    expect(read('refund.succeeded', { payment_id: 'pay_1' })).toMatchObject({
      verdict: 'take',
      objectId: null,
      orderId: null,
      amount: null,
    });
  });

  it('a payout needs no payment, and is found by its reference too', () => {
    expect(read('payout.paid', { reference: 'payout:s1' })).toMatchObject({
      verdict: 'take',
      paymentId: null,
      reference: 'payout:s1',
    });
  });

  it('has no reference of ours where it carries somebody else’s', () => {
    expect(read('payment.captured', { ...DATA, reference: 'für Größe\u0000' })).toMatchObject({
      verdict: 'take',
      reference: null,
    });
  });

  it('keeps emoji and accents, a NUL and half a surrogate pair out of what matters', () => {
    const data = { ...DATA, note: '😊 ñ', nul: '\u0000', half: '\ud83d', '\u0000key': 1 };
    expect(read('payment.captured', data)).toMatchObject({ verdict: 'take', paymentId: 'pay_1' });
  });
});

describe('the time of an event', () => {
  const DAY = Date.parse('2026-11-01T00:00:00Z');
  it.each([
    ['2026-11-01T00:00:00Z', DAY],
    ['2026-11-01T01:00:00+01:00', DAY],
    ['2026-11-01T00:00:00', DAY],
    [DAY / 1000, DAY],
    [String(DAY / 1000), DAY],
    [DAY / 1000 + 0.5, DAY + 500],
    ['yesterday', SENT_AT],
    ['2026-13-45T99:99:99Z', SENT_AT],
    [-1, SENT_AT],
    [1e300, SENT_AT],
    [{}, SENT_AT],
    [null, SENT_AT],
  ])('%j is %i', (timestamp, occurredAt) => {
    expect(read('payment.captured', DATA, { timestamp })).toMatchObject({ occurredAt });
  });

  it('is unknown where neither body nor header tell it', () => {
    expect(readEvent(Buffer.from('{"type":"payment.captured"}'), {})).toMatchObject({
      occurredAt: null,
      eventId: null,
    });
  });
});

describe('an event of an unknown type is ignored, with the reason', () => {
  it.each(['payment.weird', 'customer.created', 'payout.pending', 'constructor', '__proto__', 'payment'])(
    '%s',
    (type) => {
      const reading = read(type);
      expect(reading).toMatchObject({ verdict: 'ignore', eventType: type, subject: null, claimed: null });
      expect(reading.reason).toMatch(/^[A-Z].*\.$/);
    },
  );
});

describe('what is no event is held as unreadable, with the reason', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', 'payment.captured'],
    ['half of it', '{"type":"payment.captured"'],
    ['a byte order mark', '\ufeff{"type":"payment.captured","data":{"payment_id":"pay_1"}}'],
    ['an invalid byte', Buffer.from([...Buffer.from('{"type":"'), 0xff, ...Buffer.from('"}')])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['null', 'null'],
    ['a list', '[{"type":"payment.captured"}]'],
    ['a number', '9007199254740993'],
    ['no type', '{"data":{"payment_id":"pay_1"}}'],
    ['a type that is a number', '{"type":7}'],
    ['an empty type', '{"type":""}'],
    ['a type with a NUL', '{"type":"payment.captured\\u0000"}'],
    ['a type of 100 KB', JSON.stringify({ type: 'x'.repeat(100_000) })],
    ['20,000 nested brackets', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['20,000 nested brackets within', `{"type":"payment.captured","data":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['a million open brackets', '['.repeat(1_000_000)],
    ['20,000 nested objects', '{"a":'.repeat(20_000)],
    ['a number as a name', '{1.5:1,"type":"payment.captured"}'],
    ['a broken number', '{"type":"payment.captured","n":1.2.3}'],
  ])('%s', (_what, body) => {
    const reading = readText(body);
    expect(reading).toMatchObject({ verdict: 'hold', eventType: 'unreadable', eventId: 'evt_1', paymentId: null });
    expect(reading.reason).toMatch(/^[A-Z].*\.$/);
  });
});

describe('an event that cannot be relied on is held under its type, with the reason', () => {
  it.each([
    ['payment.captured', {}, 'payment_id'],
    ['payment.captured', null, 'payment_id'],
    ['payment.captured', [DATA], 'payment_id'],
    ['refund.succeeded', { refund_id: 'rf_1' }, 'payment_id'],
    ['dispute.opened', { dispute_id: 'dp_1' }, 'payment_id'],
    ['payout.paid', { amount: 1 }, 'payout_id'],
    ...['', ' ', 'pay 1', 'pay_ñ', 'pay_\u0000', '😊', 'p'.repeat(201), {}, [], true].map((payment_id) => [
      'payment.captured',
      { ...DATA, payment_id },
      'payment_id',
    ]),
    ['payment.captured', { ...DATA, order_id: 'ord 1' }, 'order_id'],
    ['payment.captured', { ...DATA, order_id: 'o'.repeat(201) }, 'order_id'],
    ['refund.failed', { ...DATA, refund_id: '\u007f' }, 'refund_id'],
    ['payment.captured', { ...DATA, currency: 'EURO' }, 'currency'],
    ['payment.captured', { ...DATA, currency: 978 }, 'currency'],
    ['payment.captured', { ...DATA, mode: 'sandbox' }, 'mode'],
    ['dispute.opened', { ...DATA, dispute_id: 'dp_1', status: 'lost' }, 'status'],
  ] as [string, unknown, string][])('%s with %j', (type, data, word) => {
    const reading = read(type, data);
    expect(reading).toMatchObject({ verdict: 'hold', eventType: type });
    expect(reading.reason).toContain(word);
  });

  it.each([
    '49.90',
    '4990.0',
    '4990.0000000000000001',
    '1e3',
    '-1',
    '9007199254740992',
    '9007199254740993',
    '9'.repeat(40),
  ])('an amount of %s', (literal) => {
    const reading = withAmount(literal);
    expect(reading).toMatchObject({ verdict: 'hold', eventType: 'payment.captured', amount: null, paymentId: 'pay_1' });
    expect(reading.reason).toContain('amount');
  });

  it.each(['"49.90"', '"4990 EUR"', '""', '" 4990"', '"0x10"', '"-1"', '"9007199254740993"', 'true', '{}', '[1]'])(
    'an amount of %s',
    (literal) => {
      expect(withAmount(literal)).toMatchObject({ verdict: 'hold', amount: null });
    },
  );

  it('names every problem at once, and keeps what it could read', () => {
    const reading = read('payment.captured', { ...DATA, amount: 1.5, order_id: '' });
    expect(reading).toMatchObject({ paymentId: 'pay_1', currency: 'EUR', orderId: null, amount: null });
    expect(reading.reason).toMatch(/order_id.*amount/);
  });
});

describe('JSON is read without rounding', () => {
  it('takes a number that a double cannot hold as its text, and leaves all else as it is', () => {
    const text = '{"a":9007199254740993,"b":[1,-2,0],"c":"9007199254740993 \\" 1.5","d":1.50,"e":-9007199254740993}';
    expect(parseExactJson(text)).toEqual({
      a: '9007199254740993',
      b: [1, -2, 0],
      c: '9007199254740993 " 1.5',
      d: '1.50',
      e: '-9007199254740993',
    });
  });

  it('agrees with JSON.parse wherever no number needs care', () => {
    const value = fc
      .jsonValue({ stringUnit: 'binary', maxDepth: 5 })
      .map((json) =>
        JSON.stringify(json, (_name, member: unknown) =>
          typeof member === 'number' ? Math.trunc(member % 1e9) || 0 : member,
        ),
      );
    fc.assert(
      fc.property(value, (text) => {
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('refuses whatever JSON.parse refuses', () => {
    const noise = fc.string({
      unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '1', '-', '.', 'e', '\\', 'null', ' '),
    });
    fc.assert(
      fc.property(noise, (text) => {
        const valid = ((): boolean => {
          try {
            JSON.parse(text);
            return true;
          } catch {
            return false;
          }
        })();
        if (valid) expect(() => parseExactJson(text)).not.toThrow();
        else expect(() => parseExactJson(text)).toThrow(SyntaxError);
      }),
      { numRuns: 2_000 },
    );
  });
});

it('never throws, whatever the bytes and headers are', () => {
  fc.assert(
    fc.property(
      fc.uint8Array(),
      fc.option(fc.oneof(fc.string(), fc.array(fc.string())), { nil: undefined }),
      (body, header) => {
        expect(readEvent(body, { 'webhook-id': header, 'webhook-timestamp': header })).toMatchObject({
          verdict: 'hold',
        });
      },
    ),
  );
});

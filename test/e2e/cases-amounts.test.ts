import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../support/scripted-server.ts';

let system: System;
let played: ScriptedServer;
/** What the played gateway shows of a payment, as JSON text: so that a number can be written as no JavaScript can. */
const shown = new Map<string, string>();

beforeAll(async () => {
  played = await startScriptedServer(({ path }, response) => {
    const payment = shown.get(decodeURIComponent(path.split('/')[2] ?? ''));
    if (path.startsWith('/refunds')) sendJson(response, 200, { data: [] });
    else sendJson(response, payment === undefined ? 404 : 200, payment ?? '{}');
  });
  system = await openSystem({ played: { played: played.url } });
});
afterAll(async () => {
  await system.close();
  await played.close();
});

/** Events of several payments of one order, each with its own amount; sent at once or one after the other. */
async function captures(
  orderId: string,
  payments: readonly [id: string, amount: number, currency?: string][],
  atOnce = false,
): Promise<void> {
  for (const [id, amount, currency = 'EUR'] of payments) await system.pay(id, orderId, { amount, currency });
  const send = async ([id, amount, currency = 'EUR']: (typeof payments)[number], n: number) => {
    const event = paymentEvent(id, orderId, { amount, currency });
    expect((await system.deliver(event, { id: `evt_${id}`, server: n % 2 })).status).toBe(200);
    if (!atOnce) await decided(`evt_${id}`);
  };
  if (atOnce) await Promise.all(payments.map(send));
  else for (const [n, payment] of payments.entries()) await send(payment, n);
  await Promise.all(payments.map(([id]) => decided(`evt_${id}`)));
}

async function decided(id: string, source = 'sim'): Promise<void> {
  await expect
    .poll(async () => (await system.call('GET', `/v1/events/${source}/${id}`)).body.state, { timeout: 20_000 })
    .toMatch(/^(processed|held)$/);
}

describe('what is captured against what is due', () => {
  it('too little: partly paid, without consequences; the rest completes it, and then they stand once', async () => {
    await system.order({ id: 'ord_part' });
    await captures('ord_part', [['pay_part_1', 4_000]]);
    const part = await system.orderIs('ord_part', { status: 'partially_paid', amount_paid: 4_000 });
    expect(part.consequences).toEqual({ bookings: [], loyalty: [], gift_cards: [], packages: [], invoices: [] });
    await captures('ord_part', [['pay_part_2', 6_000]]);
    const paid = await system.orderIs('ord_part', { status: 'paid', amount_paid: 10_000, surplus: 0 });
    expect(paid.paid_payment_id).toBe('pay_part_2');
    expect(paid.consequences.bookings).toHaveLength(1);
  });

  it('another currency, whole amount: held for a human, and the order waits as it was', async () => {
    await system.order({ id: 'ord_usd' });
    await captures('ord_usd', [['pay_usd', 10_000, 'USD']]);
    await system.eventIs('evt_pay_usd', 'held');
    await system.orderIs('ord_usd', { status: 'pending_payment', amount_paid: 0 });
    expect((await system.call('GET', '/v1/payments/sim/pay_usd')).body).toMatchObject({
      ...{ outcome: 'held_for_review', counted: false, amount: 10_000, currency: 'USD', refunds: [] },
    });
    expect((await system.call('POST', '/v1/payments/sim/pay_usd/confirm')).body.outcome).toBe('held_for_review');
    const letters = (await system.call('GET', '/v1/dead-letters?limit=200')).body.data;
    const letter = letters.find(({ payment_id }: any) => payment_id === 'pay_usd');
    expect(letter).toMatchObject({ kind: 'wrong_currency', amount: 10_000, currency: 'USD', status: 'open' });
    expect(letter.choices.toSorted()).toEqual(['give_up', 'refund']);
    // The right money comes after all.
    await captures('ord_usd', [['pay_eur', 10_000]]);
    await system.orderIs('ord_usd', { status: 'paid', amount_paid: 10_000, surplus: 0 });
  });

  it('a currency that is spelt in small letters is the same one', async () => {
    await system.order({ id: 'ord_small' });
    await captures('ord_small', [['pay_small', 10_000, 'eur']]);
    await system.orderIs('ord_small', { status: 'paid' });
  });

  it('too much: paid, and the surplus is written down', async () => {
    await system.order({ id: 'ord_much' });
    await captures('ord_much', [['pay_much', 12_000]]);
    const order = await system.orderIs('ord_much', { status: 'paid', amount_paid: 12_000, surplus: 2_000 });
    expect(order.refunds).toEqual([]);
    expect(order.consequences.loyalty.map(({ points }: any) => points)).toEqual([100]);
  });

  const PARTS: [string, [string, number][], boolean][] = [
    [
      'the larger one first',
      [
        ['a', 6_000],
        ['b', 4_000],
      ],
      false,
    ],
    [
      'the smaller one first',
      [
        ['b', 4_000],
        ['a', 6_000],
      ],
      false,
    ],
    [
      'both at once',
      [
        ['a', 6_000],
        ['b', 4_000],
      ],
      true,
    ],
    ['ten of them at once', Array.from({ length: 10 }, (_, n): [string, number] => [`p${n}`, 1_000]), true],
  ];
  it.each(PARTS)(
    'in parts, %s: paid by all of them together, and none is ever given back as extra',
    async (how, parts, atOnce) => {
      const name = how.replaceAll(' ', '_');
      const orderId = `ord_${name}`;
      const payments = parts.map(([part, amount]): [string, number] => [`pay_${name}_${part}`, amount]);
      await system.order({ id: orderId });
      await captures(orderId, payments, atOnce);
      const paid = await system.orderIs(orderId, { status: 'paid', amount_paid: 10_000, surplus: 0 });
      expect(paid.payments.every(({ counted }: any) => counted)).toBe(true);
      // Each of them again: the same event, and the same fact under another name.
      for (const [id, amount] of payments) {
        await system.deliver(paymentEvent(id, orderId, { amount }), { id: `evt_${id}` });
        await system.deliver(paymentEvent(id, orderId, { amount }), { id: `evt_${id}_again` });
      }
      for (const [id] of payments) await system.eventIs(`evt_${id}_again`, 'processed');
      await system.settled();
      const after = await system.orderIs(orderId, { status: 'paid', amount_paid: 10_000, refunds: [] });
      expect(after.consequences).toEqual(paid.consequences);
      for (const [id] of payments) expect(await system.refundsAtGateway(id)).toEqual([]);
    },
  );

  it('a part beyond the whole is extra, whatever its amount, and goes back; the parts stay', async () => {
    await system.order({ id: 'ord_third' });
    await captures('ord_third', [
      ['pay_third_1', 6_000],
      ['pay_third_2', 4_000],
      ['pay_third_3', 1],
      ['pay_third_4', 25_000],
      ['pay_third_5', 10_000, 'USD'],
    ]);
    await system.settled();
    for (const [id, amount] of [
      ['pay_third_3', 1],
      ['pay_third_4', 25_000],
      ['pay_third_5', 10_000],
    ] as const) {
      expect(await system.refundsAtGateway(id)).toMatchObject([{ amount, status: 'succeeded' }]);
    }
    for (const id of ['pay_third_1', 'pay_third_2']) expect(await system.refundsAtGateway(id)).toEqual([]);
    await system.orderIs('ord_third', { status: 'paid', amount_paid: 10_000, amount_refunded: 0, surplus: 0 });
  });

  it('parts that overshoot together: which one completed it is settled once, and nothing is given back', async () => {
    await system.order({ id: 'ord_over' });
    await captures(
      'ord_over',
      [
        ['pay_over_1', 6_000],
        ['pay_over_2', 6_000],
      ],
      true,
    );
    const order = await system.orderIs('ord_over', { status: 'paid', amount_paid: 12_000, surplus: 2_000 });
    expect(order.refunds).toEqual([]);
  });
});

describe('numbers are exact, or refused', () => {
  const LARGEST = Number.MAX_SAFE_INTEGER;

  it('sums add up as numbers do: 1000 and 500 are 1500', async () => {
    await system.order({ id: 'ord_sum', amount: 1_500 });
    await captures('ord_sum', [
      ['pay_sum_1', 1_000],
      ['pay_sum_2', 500],
    ]);
    await system.orderIs('ord_sum', { status: 'paid', amount_paid: 1_500, surplus: 0 });
    expect(await system.row(`select amount_paid::text from orders where id = 'ord_sum'`)).toEqual({
      amount_paid: '1500',
    });
  });

  it('the largest amount that JSON carries is due, paid and shown to the last unit', async () => {
    await system.order({ id: 'ord_large', amount: LARGEST });
    await captures('ord_large', [
      ['pay_large_1', LARGEST - 1],
      ['pay_large_2', 1],
    ]);
    const { text } = await system.call('GET', '/v1/orders/ord_large');
    expect(text).toContain('"amount_paid":9007199254740991');
    await system.orderIs('ord_large', { status: 'paid', surplus: 0 });
  });

  it.each(['9007199254740993', '9007199254740992', '1e3', '10000.0', '99.99', '-1', '1E400', '"10000"'])(
    'an order over %s is refused, and nothing is rounded into one',
    async (amount) => {
      const text = `{"id":"ord_no","currency":"EUR","amount":${amount},"customer":{"id":"c"},"lines":[{"id":"l1","kind":"tax","amount":${amount}}]}`;
      const answer = await system.call('POST', '/v1/orders', { key: 'inexact', text });
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
      expect(await system.count(`orders where id = 'ord_no'`)).toBe(0);
    },
  );

  it.each(['9007199254740993', '10000.5', '-10000', '1e4', '"10.000"', '{}', 'true', '[10000]'])(
    'an event over %s is put before a human, with the number as it was written',
    async (amount) => {
      const id = `inexact_${Buffer.from(amount).toString('hex')}`;
      await system.order({ id: `ord_${id}` });
      await system.pay(`pay_${id}`, `ord_${id}`);
      const body = JSON.stringify(paymentEvent(`pay_${id}`, `ord_${id}`)).replace(
        '"amount":10000',
        `"amount":${amount}`,
      );
      expect((await system.deliver(body, { id: `evt_${id}` })).status).toBe(200);
      const event = await system.eventIs(`evt_${id}`, 'held');
      expect(Buffer.from(event.raw_base64, 'base64').toString()).toBe(body);
      await system.orderIs(`ord_${id}`, { status: 'pending_payment', amount_paid: 0 });
    },
  );

  it.each(['9007199254740993', '10000.5', '-10000', '1e4', '"ten"', 'true'])(
    'a gateway that shows %s has shown no amount: nothing is paid, and the event says why',
    async (amount) => {
      const id = `odd_${Buffer.from(amount).toString('hex')}`;
      await system.order({ id: `ord_${id}` });
      shown.set(
        `pay_${id}`,
        `{"payment_id":"pay_${id}","order_id":"ord_${id}","status":"captured","amount":${amount},"currency":"EUR"}`,
      );
      await system.deliver(paymentEvent(`pay_${id}`, `ord_${id}`), { id: `evt_${id}`, source: 'played' });
      await expect
        .poll(async () => (await system.call('GET', `/v1/events/played/evt_${id}`)).body.last_error, {
          timeout: 20_000,
        })
        .toBeTruthy();
      await system.orderIs(`ord_${id}`, { status: 'pending_payment', amount_paid: 0 });
      // It learns to write numbers, and the event is still there to be settled.
      shown.set(
        `pay_${id}`,
        `{"payment_id":"pay_${id}","order_id":"ord_${id}","status":"captured","amount":10000,"currency":"EUR"}`,
      );
      await system.deliver(paymentEvent(`pay_${id}`, `ord_${id}`), { id: `evt_${id}_2`, source: 'played' });
      await system.orderIs(`ord_${id}`, { status: 'paid', amount_paid: 10_000 });
    },
  );
});

describe('what is missing is missing, and never zero', () => {
  const without = (paymentId: string, orderId: string, ...fields: string[]) => {
    const event = paymentEvent(paymentId, orderId);
    return {
      ...event,
      data: Object.fromEntries(Object.entries(event.data).filter(([name]) => !fields.includes(name))),
    };
  };

  it.each([
    ['no amount', ['amount']],
    ['no currency', ['currency']],
    ['no order', ['order_id']],
    ['no status', ['status']],
    ['nothing but an id', ['amount', 'currency', 'order_id', 'status']],
  ])('an event with %s: the gateway is asked, and its word pays', async (name, fields) => {
    const id = name.replaceAll(' ', '_');
    await system.order({ id: `ord_${id}` });
    await system.pay(`pay_${id}`, `ord_${id}`);
    await system.deliver(without(`pay_${id}`, `ord_${id}`, ...fields), { id: `evt_${id}` });
    await system.eventIs(`evt_${id}`, 'processed');
    await system.orderIs(`ord_${id}`, { status: 'paid', amount_paid: 10_000 });
  });

  it('nulls in the place of every optional field are the same', async () => {
    await system.order({ id: 'ord_nulls' });
    await system.pay('pay_nulls', 'ord_nulls');
    const nulls = { order_id: null, status: null, amount: null, currency: null, mode: null, reference: null };
    await system.deliver(paymentEvent('pay_nulls', 'ord_nulls', nulls), { id: 'evt_nulls' });
    await system.orderIs('ord_nulls', { status: 'paid', amount_paid: 10_000 });
  });

  it.each([
    ['amount', { amount: null }],
    ['currency', { currency: null }],
    ['amount and currency', { amount: null, currency: null }],
    ['amount but zero', { amount: 0 }],
  ])('a gateway that shows no %s of a capture: before a human, and nothing is paid', async (name, more) => {
    for (const event of ['whole', 'bare']) {
      const id = `${event}_${name.replaceAll(' ', '_')}`;
      await system.order({ id: `ord_${id}` });
      await system.pay(`pay_${id}`, `ord_${id}`, more);
      const whole = paymentEvent(`pay_${id}`, `ord_${id}`);
      const bare = without(`pay_${id}`, `ord_${id}`, 'amount', 'currency', 'status', 'order_id');
      await system.deliver(event === 'whole' ? whole : bare, { id: `evt_${id}` });
      await system.eventIs(`evt_${id}`, 'held');
      expect((await system.call('GET', `/v1/payments/sim/pay_${id}`)).body).toMatchObject({
        ...{ outcome: 'held_for_review', counted: false, status: 'captured' },
      });
      expect(await system.count(`dead_letters where payment_id = $1 and status = 'open'`, `pay_${id}`)).toBe(1);
      const order = await system.orderIs(`ord_${id}`, { amount_paid: 0 });
      expect(order.status).not.toMatch(/paid$/);
      expect(await system.count(`ledger_entries where payment_id = $1`, `pay_${id}`)).toBe(0);
    }
  });

  it('once the gateway shows it after all, a replay counts it, and nobody is asked any more', async () => {
    await system.order({ id: 'ord_after' });
    const object = (amount: string) =>
      `{"payment_id":"pay_after","order_id":"ord_after","status":"captured","amount":${amount},"currency":"EUR"}`;
    shown.set('pay_after', object('null'));
    await system.deliver(paymentEvent('pay_after', 'ord_after'), { id: 'evt_after', source: 'played' });
    await system.eventIs('evt_after', 'held', 'played');
    shown.set('pay_after', object('10000'));
    expect((await system.call('POST', '/v1/events/played/evt_after/replay')).status).toBe(202);
    await system.orderIs('ord_after', { status: 'paid', amount_paid: 10_000 });
    await system.eventIs('evt_after', 'processed', 'played');
    expect(await system.count(`dead_letters where payment_id = 'pay_after' and status = 'open'`)).toBe(0);
  });

  it.each(['checkout.completed', 'payment.captured.v2', 'PAYMENT.CAPTURED', 'payment', 'constructor', 'x'])(
    'an event of the type %s is kept and ignored, with the reason',
    async (type) => {
      const id = `type_${type}`;
      await system.order({ id: `ord_${id}` });
      await system.pay(`pay_${id}`, `ord_${id}`);
      expect((await system.deliver(paymentEvent(`pay_${id}`, `ord_${id}`, { type }), { id: `evt_${id}` })).status).toBe(
        200,
      );
      const event = await system.eventIs(`evt_${id}`, 'ignored');
      expect(event.outcome).toContain(type);
      await system.orderIs(`ord_${id}`, { status: 'pending_payment' });
    },
  );

  it.each([
    ['no type', { type: undefined }],
    ['a number as its type', { type: 7 }],
    ['no data', { data: undefined }],
    ['data that is a list', { data: [] }],
    ['data that is text', { data: 'pay_1' }],
    ['no payment', { data: { order_id: 'ord_x', status: 'captured', amount: 1, currency: 'EUR' } }],
    ['a payment that is an object', { data: { payment_id: { id: 'pay_x' } } }],
    ['an unknown mode', { data: { payment_id: 'pay_x', mode: 'sandbox' } }],
    ['a currency of two letters', { data: { payment_id: 'pay_x', currency: 'EU' } }],
  ])('a signed event with %s is kept and put before a human', async (name, over) => {
    const id = `evt_${name.replaceAll(' ', '_')}`;
    const event = { ...paymentEvent('pay_x', 'ord_x'), ...over };
    expect((await system.deliver(event, { id })).status).toBe(200);
    expect((await system.eventIs(id, 'held')).last_error).toBeTruthy();
    expect(await system.count(`dead_letters where event_id = $1 and kind = 'event_unreadable'`, id)).toBe(1);
  });
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});

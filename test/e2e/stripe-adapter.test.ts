import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EventReading } from '../../src/domain/event-reading.ts';
import type { EventPage, Gateway, RefundOrder } from '../../src/gateways/gateway.ts';
import type { CuttingProxy } from '../support/cutting-proxy.ts';
import { startLocalstripeLab, type LocalstripeLab } from '../support/localstripe-lab.ts';
import { startLocalstripe, type Localstripe } from '../support/localstripe.ts';

const GOOD_CARD = '4242424242424242';
const DECLINED_CARD = '4000000000000341';

const started = await startLocalstripe();
if (typeof started === 'string') {
  process.stderr.write(`SKIPPED: the Stripe adapter against a stateful stand-in: ${started}\n`);
}

describe.skipIf(typeof started === 'string')('the Stripe adapter, against a stateful stand-in of Stripe', () => {
  const stripe = started as Localstripe;
  let lab: LocalstripeLab;
  let proxy: CuttingProxy;
  let gateway: Gateway;

  beforeAll(async () => {
    // Twice: Stripe, too, may send one event to us more than once.
    lab = await startLocalstripeLab(stripe, ['first', 'second']);
    ({ proxy, gateway } = lab);
  });

  afterEach(() => {
    proxy.mode = 'forward';
  });

  afterAll(() => lab.close());

  const readings = (objectId: string) => lab.readings().filter((reading) => reading.objectId === objectId);

  async function pay(paymentId: string, number = GOOD_CARD): Promise<void> {
    await stripe.post(`/v1/payment_intents/${paymentId}`, { payment_method: await lab.card(number) });
    await stripe.post(`/v1/payment_intents/${paymentId}/confirm`, {});
  }

  async function paid({ amount = 1999n, currency = 'EUR', orderId = 'ord_1' } = {}): Promise<string> {
    const reference = `checkout:${orderId}:1`;
    const order = { orderId, amount, currency, reference, idempotencyKey: reference, returnUrl: null };
    const { payment } = await gateway.preparePayment(order);
    await pay(payment.paymentId);
    return payment.paymentId;
  }

  function refundOf(paymentId: string, more: Partial<RefundOrder> = {}): RefundOrder {
    const reference = `refund:ref_${paymentId}`;
    return { paymentId, amount: 500n, currency: 'EUR', reference, idempotencyKey: reference, ...more };
  }

  it('prepares a payment, finds it again by its reference, and sees it being paid', async () => {
    const order = {
      orderId: 'ord_prepared',
      amount: 1999n,
      currency: 'EUR',
      reference: 'checkout:ord_prepared:1',
      idempotencyKey: 'checkout:ord_prepared:1',
      returnUrl: 'https://shop.example/thanks',
    };
    const prepared = await gateway.preparePayment(order);
    expect(prepared).toEqual({
      payment: {
        paymentId: expect.stringMatching(/^pi_/),
        orderId: 'ord_prepared',
        reference: 'checkout:ord_prepared:1',
        status: 'pending',
        amount: 1999n,
        currency: 'EUR',
        amountRefunded: null,
        mode: 'test',
      },
      checkoutUrl: null,
      clientSecret: expect.stringContaining('_secret_'),
    });
    expect(await gateway.findPayments('checkout:ord_prepared:1', 'ord_prepared')).toEqual([prepared]);
    expect(await gateway.findPayments('checkout:ord_prepared:2', 'ord_prepared')).toEqual([]);

    await pay(prepared.payment.paymentId);
    expect(await gateway.fetchPayment(prepared.payment.paymentId)).toEqual({
      ...prepared.payment,
      status: 'captured',
      amountRefunded: 0n,
    });
  });

  it("verifies the stand-in's own signature and reads its event as a capture, each time it comes", async () => {
    const paymentId = await paid({ orderId: 'ord_webhook' });
    const seen = await vi.waitFor(
      () => {
        const found = readings(paymentId);
        expect(found).toHaveLength(2);
        return found;
      },
      { timeout: 10_000, interval: 50 },
    );
    expect(seen[0]).toMatchObject({
      verdict: 'take',
      eventType: 'payment_intent.succeeded',
      eventId: expect.stringMatching(/^evt_/),
      paymentId,
      orderId: 'ord_webhook',
      claimed: 'captured',
      amount: 1999n,
      currency: 'EUR',
      mode: 'test',
      reference: 'checkout:ord_webhook:1',
    });
    expect(seen[1]).toEqual(seen[0]);
  });

  it('sees a declined payment as failed, in its event and in the payment itself', async () => {
    const order = {
      orderId: 'ord_declined',
      amount: 1999n,
      currency: 'EUR',
      reference: 'r',
      idempotencyKey: 'k',
      returnUrl: null,
    };
    const { payment } = await gateway.preparePayment(order);
    await pay(payment.paymentId, DECLINED_CARD);
    expect(await gateway.fetchPayment(payment.paymentId)).toMatchObject({ status: 'failed' });
    const failed = { verdict: 'take', eventType: 'payment_intent.payment_failed', claimed: 'failed' };
    await vi.waitFor(() => expect(readings(payment.paymentId)[0]).toMatchObject(failed), {
      timeout: 10_000,
      interval: 50,
    });
  });

  it('does not know a payment that is not there', async () => {
    expect(await gateway.fetchPayment('pi_nowhere')).toBeNull();
    expect(await gateway.listRefunds('pi_nowhere')).toEqual([]);
  });

  it.each([
    ['JPY', 500n],
    ['KWD', 1230n],
    ['EUR', 1999n],
  ])('counts %s as Stripe does', async (currency, amount) => {
    const paymentId = await paid({ amount, currency });
    expect(await gateway.fetchPayment(paymentId)).toMatchObject({ amount, currency });
    const { amount: literal } = await stripe.get(`/v1/payment_intents/${paymentId}`);
    expect(BigInt(literal)).toBe(amount);
    expect(await gateway.createRefund(refundOf(paymentId, { amount, currency }))).toMatchObject({ amount, currency });
  });

  it.each(['ISK', 'UGX'])('tells Stripe %s in hundredths, and reads them back whole', async (currency) => {
    const paymentId = await paid({ amount: 5n, currency });
    expect(await gateway.fetchPayment(paymentId)).toMatchObject({ amount: 5n, currency });
    expect((await stripe.get(`/v1/payment_intents/${paymentId}`)).amount).toBe(500);
  });

  it('refunds, and finds the refund again by our reference and by nothing else', async () => {
    const paymentId = await paid();
    const ours = await gateway.createRefund(refundOf(paymentId));
    expect(ours).toMatchObject({
      paymentId,
      amount: 500n,
      currency: 'EUR',
      status: 'succeeded',
      reference: `refund:ref_${paymentId}`,
    });
    await stripe.post('/v1/refunds', { payment_intent: paymentId, amount: '500' });
    expect(await gateway.listRefunds(paymentId)).toHaveLength(2);
    expect(await gateway.findRefunds(paymentId, `refund:ref_${paymentId}`)).toEqual([ours]);
    expect(await gateway.findRefunds(paymentId, 'refund:ref_other')).toEqual([]);
    expect(await gateway.fetchPayment(paymentId)).toMatchObject({ status: 'captured', amountRefunded: 1000n });
  });

  it.each(['cut_answer', 'half_answer', 'swallow_answer'] as const)(
    'calls a refund whose answer was lost (%s) unknown, has sent it once, and finds it',
    async (mode) => {
      const paymentId = await paid();
      proxy.mode = mode;
      await expect(gateway.createRefund(refundOf(paymentId))).rejects.toMatchObject({
        name: 'GatewayError',
        kind: 'unknown',
      });
      proxy.mode = 'forward';
      const found = await gateway.findRefunds(paymentId, `refund:ref_${paymentId}`);
      expect(found).toMatchObject([{ amount: 500n, status: 'succeeded' }]);
      expect(await gateway.listRefunds(paymentId)).toEqual(found);
    },
  );

  it('would refund twice if it sent a refund again without a look: the key alone does not always help', async () => {
    const paymentId = await paid();
    await gateway.createRefund(refundOf(paymentId));
    await gateway.createRefund(refundOf(paymentId));
    expect(await gateway.findRefunds(paymentId, `refund:ref_${paymentId}`)).toHaveLength(2);
  });

  it('turns every page of a long list of refunds', async () => {
    const paymentId = await paid({ amount: 10_000n });
    for (let n = 0; n < 101; n++) await stripe.post('/v1/refunds', { payment_intent: paymentId, amount: '1' });
    const refunds = await gateway.listRefunds(paymentId);
    expect(new Set(refunds.map(({ refundId }) => refundId)).size).toBe(101);
  });

  it('lists what was sent, each event as its webhook brought it', async () => {
    const paymentId = await paid({ orderId: 'ord_listed' });
    await vi.waitFor(() => expect(readings(paymentId).some(({ claimed }) => claimed === 'captured')).toBe(true), {
      timeout: 10_000,
      interval: 50,
    });
    const listed: EventReading[] = [];
    // A second ahead, as the list ends before the present one.
    const now = new Date(Date.now() + 1_000);
    for (let after: string | null = String(Math.floor(now.getTime() / 1000) - 60); after !== null;) {
      const page: EventPage = await gateway.listEvents({ after, since: new Date(0), now, limit: 3 });
      listed.push(...page.events.map(({ body, headers }) => gateway.read(body, headers)));
      after = page.next;
    }
    const sent = readings(paymentId);
    const ids = (of: readonly EventReading[]) => new Set(of.map(({ eventId }) => eventId));
    expect(ids(listed.filter(({ objectId }) => objectId === paymentId))).toEqual(ids(sent));
    expect(listed).toEqual(expect.arrayContaining(sent));
  });

  it('calls a read that fails temporary, and keeps working afterwards', async () => {
    const paymentId = await paid();
    proxy.mode = 'cut_answer';
    await expect(gateway.fetchPayment(paymentId)).rejects.toMatchObject({ name: 'GatewayError', kind: 'temporary' });
    proxy.mode = 'forward';
    expect(await gateway.fetchPayment(paymentId)).toMatchObject({ status: 'captured' });
  });

  it('reads what a payout says', async () => {
    const { id } = await stripe.post('/v1/payouts', {
      amount: '900',
      currency: 'eur',
      status: 'paid',
      'metadata[paidonce_reference]': 'payout:s1:d',
    });
    const taken = {
      verdict: 'take',
      subject: 'payout',
      claimed: 'paid',
      amount: 900n,
      paymentId: null,
      reference: 'payout:s1:d',
    };
    await vi.waitFor(
      () => expect(readings(id).find(({ eventType }) => eventType === 'payout.paid')).toMatchObject(taken),
      { timeout: 10_000, interval: 50 },
    );
  });
});

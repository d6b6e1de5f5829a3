import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EventReading } from '../../src/domain/event-reading.ts';
import type { ChargeOrder, Gateway, PayoutOrder } from '../../src/gateways/gateway.ts';
import type { CuttingProxy } from '../support/cutting-proxy.ts';
import { startLocalstripeLab, type LocalstripeLab } from '../support/localstripe-lab.ts';
import { startLocalstripe, type Localstripe } from '../support/localstripe.ts';
import { SINCE } from '../support/scripted-gateway.ts';

const GOOD_CARD = '4242424242424242';
const CARD_DECLINED_LATER = '4000000000000341';
const CARD_THAT_ASKS_ITS_HOLDER = '4000008260003178';
const LOSSES = ['cut_answer', 'half_answer', 'swallow_answer'] as const;

const started = await startLocalstripe();
if (typeof started === 'string') {
  process.stderr.write(`SKIPPED: charges and payouts of the Stripe adapter against a stateful stand-in: ${started}\n`);
}

describe.skipIf(typeof started === 'string')('charges and payouts of the Stripe adapter, against a stand-in', () => {
  const stripe = started as Localstripe;
  let lab: LocalstripeLab;
  let proxy: CuttingProxy;
  let gateway: Gateway;
  let n = 0;

  beforeAll(async () => {
    lab = await startLocalstripeLab(stripe, ['ours']);
    ({ proxy, gateway } = lab);
  });

  afterEach(() => {
    proxy.mode = 'forward';
  });

  afterAll(() => lab.close());

  /** What the gateway reads of the delivery of this type about an object, once it has come and its signature held. */
  async function readingOf(eventType: string, objectId: string): Promise<EventReading> {
    return vi.waitFor(
      () => {
        const found = lab.readings().find((read) => read.eventType === eventType && read.objectId === objectId);
        if (found === undefined) throw new Error(`no ${eventType} of ${objectId}`);
        return found;
      },
      { timeout: 10_000, interval: 50 },
    );
  }

  async function chargeOf(number: string, more: Partial<ChargeOrder> = {}): Promise<ChargeOrder> {
    const customer = await stripe.post('/v1/customers', {});
    const card = await lab.card(number);
    await stripe.post(`/v1/payment_methods/${card}/attach`, { customer: customer.id });
    const reference = `charge:${++n}`;
    const money = { amount: 1999n, currency: 'EUR' };
    const parties = { customerId: customer.id, paymentMethod: card };
    return { orderId: `ord_${n}`, ...parties, ...money, reference, idempotencyKey: reference, ...more };
  }

  function payoutOf(more: Partial<PayoutOrder> = {}): PayoutOrder {
    const reference = `payout:seller_${++n}:2026-11-30`;
    const money = { amount: 90_000n, currency: 'EUR' };
    return { sellerId: 's', destination: 'ba_1', ...money, reference, idempotencyKey: reference, ...more };
  }

  it('charges a saved card, finds the charge by our reference and by nothing else, and reads its event', async () => {
    const order = await chargeOf(GOOD_CARD);
    expect(await gateway.findCharges(order.reference, order.customerId, SINCE)).toEqual([]);
    const charged = await gateway.chargeSavedCard(order);
    expect(charged).toMatchObject({
      paymentId: expect.stringMatching(/^pi_/),
      orderId: order.orderId,
      reference: order.reference,
      status: 'captured',
      amount: 1999n,
      currency: 'EUR',
      mode: 'test',
    });
    expect(await gateway.findCharges(order.reference, order.customerId, SINCE)).toMatchObject([
      { paymentId: charged.paymentId, status: 'captured', amount: 1999n },
    ]);
    expect(await gateway.findCharges(`${order.reference}0`, order.customerId, SINCE)).toEqual([]);
    expect(await gateway.fetchPayment(charged.paymentId)).toMatchObject({ status: 'captured', amountRefunded: 0n });
    expect(await readingOf('payment_intent.succeeded', charged.paymentId)).toMatchObject({
      verdict: 'take',
      claimed: 'captured',
      orderId: order.orderId,
      reference: order.reference,
    });
  });

  it.each([
    ['declines', CARD_DECLINED_LATER, 'card_declined'],
    ['asks for its holder', CARD_THAT_ASKS_ITS_HOLDER, 'authentication_required'],
  ])('calls a charge rejected whose bank %s, and finds it as failed', async (_what, number, code) => {
    const order = await chargeOf(number);
    await expect(gateway.chargeSavedCard(order)).rejects.toMatchObject({ kind: 'rejected', code, ourFault: false });
    expect(await gateway.findCharges(order.reference, order.customerId, SINCE)).toMatchObject([
      { status: 'failed', orderId: order.orderId },
    ]);
  });

  it('says that a card which is not there is our fault', async () => {
    const order = await chargeOf(GOOD_CARD, { paymentMethod: 'pm_nowhere' });
    await expect(gateway.chargeSavedCard(order)).rejects.toMatchObject({ kind: 'rejected', ourFault: true });
    expect(await gateway.findCharges(order.reference, order.customerId, SINCE)).toEqual([]);
  });

  it.each(LOSSES)('calls a charge whose answer was lost (%s) unknown, has sent it once, and finds it', async (mode) => {
    const order = await chargeOf(GOOD_CARD);
    proxy.mode = mode;
    await expect(gateway.chargeSavedCard(order)).rejects.toMatchObject({ name: 'GatewayError', kind: 'unknown' });
    proxy.mode = 'forward';
    expect(await gateway.findCharges(order.reference, order.customerId, SINCE)).toMatchObject([{ status: 'captured' }]);
  });

  it('would charge twice if it sent a charge again without a look: the key alone does not always help', async () => {
    const order = await chargeOf(GOOD_CARD);
    await gateway.chargeSavedCard(order);
    await gateway.chargeSavedCard(order);
    expect(await gateway.findCharges(order.reference, order.customerId, SINCE)).toHaveLength(2);
  });

  it('finds a charge behind more than a page of other payments', async () => {
    for (let other = 0; other < 101; other++)
      await stripe.post('/v1/payment_intents', { amount: '1', currency: 'eur' });
    const order = await chargeOf(GOOD_CARD);
    const { paymentId } = await gateway.chargeSavedCard(order);
    expect(await gateway.findCharges(order.reference, order.customerId, SINCE)).toMatchObject([{ paymentId }]);
  });

  it('pays out, finds the payout by our reference and by nothing else, and sees it through', async () => {
    const order = payoutOf();
    expect(await gateway.findPayouts(order.reference, SINCE)).toEqual([]);
    const made = await gateway.createPayout(order);
    expect(made).toEqual({
      payoutId: expect.stringMatching(/^po_/),
      amount: 90_000n,
      currency: 'EUR',
      status: 'pending',
      reference: order.reference,
      failureCode: null,
    });
    expect(await gateway.findPayouts(order.reference, SINCE)).toEqual([made]);
    expect(await gateway.findPayouts(`${order.reference}0`, SINCE)).toEqual([]);
    await stripe.post(`/v1/payouts/${made.payoutId}`, { status: 'paid' });
    expect(await gateway.fetchPayout(made.payoutId)).toEqual({ ...made, status: 'paid' });
    expect(await gateway.fetchPayout('po_nowhere')).toBeNull();
  });

  it('sees a payout that was taken back as failed, in its event and in the payout itself', async () => {
    const { payoutId } = await gateway.createPayout(payoutOf());
    await stripe.post(`/v1/payouts/${payoutId}/cancel`, {});
    expect(await gateway.fetchPayout(payoutId)).toMatchObject({ status: 'failed' });
    expect(await readingOf('payout.canceled', payoutId)).toMatchObject({ subject: 'payout', claimed: 'failed' });
  });

  it.each(LOSSES)('calls a payout whose answer was lost (%s) unknown, has sent it once, and finds it', async (mode) => {
    const order = payoutOf();
    proxy.mode = mode;
    await expect(gateway.createPayout(order)).rejects.toMatchObject({ name: 'GatewayError', kind: 'unknown' });
    proxy.mode = 'forward';
    expect(await gateway.findPayouts(order.reference, SINCE)).toMatchObject([{ status: 'pending', amount: 90_000n }]);
  });

  it('would pay twice if it sent a payout again without a look', async () => {
    const order = payoutOf();
    await gateway.createPayout(order);
    await gateway.createPayout(order);
    expect(await gateway.findPayouts(order.reference, SINCE)).toHaveLength(2);
  });

  it('calls a look-up that fails temporary: neither found nor absent', async () => {
    const order = await chargeOf(GOOD_CARD);
    proxy.mode = 'cut_answer';
    const temporary = { name: 'GatewayError', kind: 'temporary' };
    await expect(gateway.findCharges(order.reference, order.customerId, SINCE)).rejects.toMatchObject(temporary);
    await expect(gateway.findPayouts('payout:x:y', SINCE)).rejects.toMatchObject(temporary);
    await expect(gateway.fetchPayout('po_1')).rejects.toMatchObject(temporary);
  });
});

import { describe, expect, it } from 'vitest';
import { STANDARD_EXTENSIONS, type SourceConfig } from '../../src/domain/source-config.ts';
import type { AuthorizationOrder } from '../../src/gateways/gateway.ts';
import { answering, gatewayThat, type ScriptedGateway } from '../support/scripted-gateway.ts';
import type { Script } from '../support/scripted-server.ts';
import { refusal, shopFailureOf } from '../support/scripted-stripe.ts';

/** The adapter named `shop` before a server that answers as the test says. */
function shopThat(
  kind: SourceConfig['kind'],
  script: Script,
  extensions: NonNullable<SourceConfig['extensions']> = STANDARD_EXTENSIONS,
) {
  return gatewayThat({ name: 'shop', kind, ...(kind === 'standard' ? { extensions } : {}) }, script);
}

const order = (paymentId: string, more: Partial<AuthorizationOrder> = {}): AuthorizationOrder => ({
  ...{ paymentId, amount: 1_500n, currency: 'EUR' },
  ...{ reference: `capture:shop:${paymentId}`, idempotencyKey: `capture:shop:${paymentId}#2`, ...more },
});
const form = ({ requests }: ScriptedGateway) => Object.fromEntries(new URLSearchParams(requests[0]?.body));

const INTENT = { id: 'pi_1', object: 'payment_intent', amount: 2_000, currency: 'eur', livemode: false, metadata: {} };
const CHARGE = { id: 'ch_1', object: 'charge', amount: 2_000, currency: 'eur', status: 'succeeded', livemode: false };

describe('at Stripe', () => {
  it('a PaymentIntent is captured in part, once, under our key, and shows what was taken', async () => {
    const stripe = await shopThat('stripe', answering({ ...INTENT, status: 'succeeded', amount_received: 1_500 }));
    expect(await stripe.gateway.capturePayment(order('pi_1'))).toMatchObject({
      ...{ paymentId: 'pi_1', status: 'captured', amount: 1_500n, currency: 'EUR' },
    });
    expect(stripe.requests).toHaveLength(1);
    expect(stripe.requests[0]).toMatchObject({
      ...{ method: 'POST', path: '/v1/payment_intents/pi_1/capture' },
      headers: { 'idempotency-key': 'capture:shop:pi_1#2' },
    });
    expect(form(stripe)).toEqual({ amount_to_capture: '1500' });
  });

  it('a charge without a PaymentIntent is captured as such', async () => {
    const stripe = await shopThat('stripe', answering({ ...CHARGE, captured: true, amount_captured: 1_500 }));
    expect(await stripe.gateway.capturePayment(order('ch_1'))).toMatchObject({ status: 'captured', amount: 1_500n });
    expect(stripe.requests[0]).toMatchObject({ path: '/v1/charges/ch_1/capture' });
    expect(form(stripe)).toEqual({ amount: '1500' });
  });

  it('money is told as Stripe counts it', async () => {
    const stripe = await shopThat('stripe', answering({ ...INTENT, currency: 'isk', status: 'succeeded' }));
    await stripe.gateway.capturePayment(order('pi_1', { amount: 15n, currency: 'ISK' }));
    expect(form(stripe)).toEqual({ amount_to_capture: '1500' });
  });

  it('a PaymentIntent is voided by being cancelled, under our key', async () => {
    const stripe = await shopThat('stripe', answering({ ...INTENT, status: 'canceled' }));
    expect(await stripe.gateway.voidPayment(order('pi_1'))).toMatchObject({ paymentId: 'pi_1', status: 'expired' });
    expect(stripe.requests).toHaveLength(1);
    expect(stripe.requests[0]).toMatchObject({
      ...{ method: 'POST', path: '/v1/payment_intents/pi_1/cancel' },
      headers: { 'idempotency-key': 'capture:shop:pi_1#2' },
    });
    expect(form(stripe)).toEqual({});
  });

  it('a charge without a PaymentIntent is not voided by a refund, which might give back what was captured', async () => {
    const { gateway, requests } = await shopThat('stripe', answering({}));
    const refused = { kind: 'rejected', code: 'not_supported', ourFault: false };
    expect(await shopFailureOf(gateway.voidPayment(order('ch_1')))).toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });

  it.each([
    [400, { code: 'amount_too_large' }, 'capture_exceeds_authorized', false],
    [400, { param: 'amount_to_capture' }, 'capture_exceeds_authorized', false],
    [400, { code: 'charge_already_captured' }, 'already_captured', false],
    [400, { code: 'charge_expired_for_capture' }, 'authorization_expired', false],
    [400, { code: 'capture_charge_authorization_expired' }, 'authorization_expired', false],
    [402, { code: 'card_declined' }, 'card_declined', false],
    [400, { code: 'payment_intent_unexpected_state' }, 'payment_intent_unexpected_state', true],
    [404, { code: 'resource_missing' }, 'resource_missing', true],
  ])('a capture that is refused with %i %j is rejected as %s', async (status, error, code, ourFault) => {
    const { gateway } = await shopThat('stripe', refusal(status, { message: 'no', ...error }));
    const refused = { kind: 'rejected', code, ourFault };
    expect(await shopFailureOf(gateway.capturePayment(order('pi_1')))).toMatchObject(refused);
  });

  it('an answer that is no payment, or none at all, leaves it unknown', async () => {
    for (const script of [answering({ object: 'list' }), answering({ error: {} }, 500)]) {
      const { gateway } = await shopThat('stripe', script);
      expect(await shopFailureOf(gateway.capturePayment(order('pi_1')))).toMatchObject({ kind: 'unknown' });
      expect(await shopFailureOf(gateway.voidPayment(order('pi_1')))).toMatchObject({ kind: 'unknown' });
    }
  });
});

const ENTITY = { id: 'pay_1', entity: 'payment', amount: 1_500, currency: 'INR', captured: true, notes: [] };

describe('at Razorpay', () => {
  const rupees = { currency: 'INR' };

  it('a payment is captured whole', async () => {
    const { gateway, requests } = await shopThat('razorpay', answering({ ...ENTITY, status: 'captured' }));
    expect(await gateway.capturePayment(order('pay_1', rupees))).toMatchObject({ status: 'captured', amount: 1_500n });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/v1/payments/pay_1/capture' });
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ amount: 1_500, currency: 'INR' });
  });

  it.each([
    ['This payment has already been captured', 'already_captured', false],
    ['The id provided does not exist', 'unknown_id', true],
    ['Something else', 'BAD_REQUEST_ERROR', true],
  ])('a capture that is refused with "%s" is rejected as %s', async (description, code, ourFault) => {
    const said = answering({ error: { code: 'BAD_REQUEST_ERROR', description } }, 400);
    const { gateway } = await shopThat('razorpay', said);
    await expect(gateway.capturePayment(order('pay_1', rupees))).rejects.toMatchObject({
      ...{ name: 'GatewayError', kind: 'rejected', code, ourFault },
    });
  });

  it('an answer about another payment leaves it unknown, and an inexact amount is not sent', async () => {
    const { gateway, requests } = await shopThat('razorpay', answering({ ...ENTITY, id: 'pay_2', status: 'captured' }));
    const unknown = { kind: 'unknown', code: 'unreadable_answer' };
    expect(await shopFailureOf(gateway.capturePayment(order('pay_1', rupees)))).toMatchObject(unknown);
    // What it says of won is not published.
    const inexact = { kind: 'rejected', code: 'amount_not_exact', ourFault: true };
    expect(await shopFailureOf(gateway.capturePayment(order('pay_1', { currency: 'KRW' })))).toMatchObject(inexact);
    expect(requests).toHaveLength(1);
  });

  it('nothing is voided, and nothing is captured in part', async () => {
    const { gateway, requests } = await shopThat('razorpay', answering({}));
    const { capturesPayments, capturesParts, voidsPayments } = gateway.capabilities;
    expect([capturesPayments, capturesParts, voidsPayments]).toEqual([true, false, false]);
    const refused = { kind: 'rejected', code: 'not_supported' };
    expect(await shopFailureOf(gateway.voidPayment(order('pay_1')))).toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });
});

const PAYMENT = { payment_id: 'pay/1', order_id: 'ord_1', status: 'captured', amount: 1_500, currency: 'EUR' };

describe('at a gateway that speaks the standard protocol', () => {
  it('a payment is captured or voided by the calls that its source names', async () => {
    const { gateway, requests } = await shopThat('standard', answering(PAYMENT, 201));
    expect(await gateway.capturePayment(order('pay/1'))).toMatchObject({ status: 'captured', amount: 1_500n });
    await gateway.voidPayment(order('pay/1'));
    expect(
      requests.map(({ method, path, headers, body }) => [method, path, headers['idempotency-key'], JSON.parse(body)]),
    ).toEqual([
      ['POST', '/payments/pay%2F1/capture', 'capture:shop:pay/1#2', { amount: 1_500, reference: 'capture:shop:pay/1' }],
      ['POST', '/payments/pay%2F1/void', 'capture:shop:pay/1#2', { reference: 'capture:shop:pay/1' }],
    ]);
  });

  it('nothing is sent of what its source does not name', async () => {
    const { gateway, requests } = await shopThat('standard', answering(PAYMENT), ['capture']);
    expect(gateway.capabilities).toMatchObject({ capturesPayments: true, capturesParts: true, voidsPayments: false });
    const refused = { kind: 'rejected', code: 'not_supported', ourFault: true };
    expect(await shopFailureOf(gateway.voidPayment(order('pay/1')))).toMatchObject(refused);
    const { gateway: plain } = await shopThat('standard', answering(PAYMENT), []);
    expect(await shopFailureOf(plain.capturePayment(order('pay/1')))).toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });

  it('an answer about another payment leaves it unknown', async () => {
    const { gateway } = await shopThat('standard', answering({ ...PAYMENT, payment_id: 'pay_2' }, 201));
    expect(await shopFailureOf(gateway.capturePayment(order('pay/1')))).toMatchObject({ kind: 'unknown' });
  });
});

import { describe, expect, it } from 'vitest';
import { readStripeEvent } from '../../src/gateways/stripe/read-event.ts';
import { answering, failureOf, gatewayThat } from '../support/scripted-gateway.ts';
import type { Script } from '../support/scripted-server.ts';
import { refusal, shopFailureOf, stripeThat } from '../support/scripted-stripe.ts';

const STRIPE = {
  ...{ id: 'du_1', object: 'dispute', amount: 1999, currency: 'eur', status: 'needs_response', created: 1_764_500_000 },
  ...{ charge: 'ch_1', payment_intent: 'pi_1', balance_transactions: [] },
};
const movement = (fee: unknown, currency: unknown = 'usd') => ({
  object: 'balance_transaction',
  amount: -1999,
  fee,
  currency,
});

describe("a dispute at Stripe, in the shape of today's API", () => {
  it.each([
    ...['warning_needs_response', 'warning_under_review', 'needs_response', 'under_review'].map((s) => [s, 'opened']),
    ...['won', 'warning_closed', 'prevented'].map((s) => [s, 'won']),
    // An appeal follows a loss: the money is gone until it is won.
    ...['lost', 'appeal_needs_response', 'appeal_under_review'].map((s) => [s, 'lost']),
  ])('that is %s is %s', async (status, ours) => {
    const { gateway, requests } = await stripeThat(answering({ ...STRIPE, status }));
    expect(await gateway.fetchDispute('du_1')).toEqual({
      ...{ disputeId: 'du_1', paymentId: 'pi_1', status: ours, amount: 1999n, currency: 'EUR' },
      ...{ fee: null, feeCurrency: null, openedAt: 1_764_500_000_000, withheld: !status.startsWith('warning_') },
    });
    expect(requests.map(({ path }) => path)).toEqual(['/v1/disputes/du_1']);
  });

  it('costs what the movements of the balance cost together, in its currency: the fee for contesting comes back when it is won', async () => {
    const movements = [movement(1_500), movement(1_500), movement(-1_500)];
    const { gateway } = await stripeThat(answering({ ...STRIPE, status: 'won', balance_transactions: movements }));
    expect(await gateway.fetchDispute('du_1')).toMatchObject({ status: 'won', fee: 1_500n, feeCurrency: 'USD' });
  });

  it('of a charge without an intent is of that charge; without an amount it says so, and not zero', async () => {
    const { gateway } = await stripeThat(
      answering({ ...STRIPE, payment_intent: null, charge: { id: 'ch_1', object: 'charge' }, amount: undefined }),
    );
    expect(await gateway.fetchDispute('du_1')).toMatchObject({ paymentId: 'ch_1', amount: null });
  });

  it.each([
    ['in a state that is not known here', { status: 'drawn' }],
    ['that is another one', { id: 'du_2' }],
    ['of no payment', { charge: null, payment_intent: null }],
    ['whose fee is no whole number', { balance_transactions: [movement(1.5)] }],
    ['whose fees are in two currencies', { balance_transactions: [movement(1), movement(1, 'eur')] }],
    ['that is no dispute', { object: 'charge' }],
  ])('%s is not believed: the look fails for now', async (_what, more) => {
    const { gateway } = await stripeThat(answering({ ...STRIPE, ...more }));
    expect(await shopFailureOf(gateway.fetchDispute('du_1'))).toMatchObject({ kind: 'temporary' });
  });

  it('that Stripe does not know is none, and what is no id is not asked for', async () => {
    const { gateway, requests } = await stripeThat(
      refusal(404, { code: 'resource_missing', message: 'No such dispute' }),
    );
    expect(await gateway.fetchDispute('du_1')).toBeNull();
    expect(await gateway.fetchDispute('../charges')).toBeNull();
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['charge.dispute.updated', 'under_review', 'opened'],
    ['charge.dispute.updated', 'lost', 'lost'],
    ['charge.dispute.funds_withdrawn', 'needs_response', 'opened'],
    ['charge.dispute.funds_reinstated', 'won', 'won'],
    ['charge.dispute.updated', 'drawn', null],
  ])('%s (%s) is taken as a hint to look at it', (type, status, claimed) => {
    expect(readEvent(type, status)).toMatchObject({
      ...{ verdict: 'take', subject: 'dispute', objectId: 'du_1', paymentId: 'pi_1', claimed, amount: 1999n },
    });
  });

  it.each([
    ['charge.dispute.created', 'warning_needs_response', false],
    ['charge.dispute.updated', 'warning_under_review', false],
    ['charge.dispute.updated', 'needs_response', true],
    ['charge.dispute.funds_withdrawn', 'needs_response', true],
    // Made before the inquiry's state had changed.
    ['charge.dispute.funds_withdrawn', 'warning_under_review', true],
    ['charge.dispute.updated', undefined, null],
  ])('%s (%s) tells whether its money is kept back', (type, status, withheld) => {
    expect(readEvent(type, status).withheld).toBe(withheld);
  });

  function readEvent(type: string, status: string | undefined) {
    const event = {
      ...{ id: 'evt_1', object: 'event', type, created: 1, livemode: false },
      data: { object: { ...STRIPE, status } },
    };
    return readStripeEvent(Buffer.from(JSON.stringify(event)));
  }
});

const razorpayThat = (script: Script) => gatewayThat({ name: 'rzp', kind: 'razorpay' }, script, 500);

describe('a dispute at Razorpay', () => {
  const entity = {
    ...{ id: 'disp_1', entity: 'dispute', payment_id: 'pay_1', amount: 10_000, currency: 'INR', amount_deducted: 0 },
    ...{ reason_code: 'chargeback', phase: 'chargeback', status: 'open', created_at: 1_764_500_000 },
  };

  it.each([
    ['open', 'opened'],
    ['under_review', 'opened'],
    ['won', 'won'],
    ['closed', 'won'],
    ['lost', 'lost'],
  ])('that is %s is %s, and names no fee', async (status, ours) => {
    const { gateway, requests } = await razorpayThat(answering({ ...entity, status }));
    expect(await gateway.fetchDispute('disp_1')).toEqual({
      ...{ disputeId: 'disp_1', paymentId: 'pay_1', status: ours, amount: 10_000n, currency: 'INR' },
      // Nothing of it was deducted.
      ...{ fee: null, feeCurrency: null, openedAt: 1_764_500_000_000, withheld: false },
    });
    expect(requests.map(({ path }) => path)).toEqual(['/v1/disputes/disp_1']);
  });

  it('that it does not know is none; another one, or a strange state, is not believed', async () => {
    const unknown = { error: { code: 'BAD_REQUEST_ERROR', description: 'The id provided does not exist' } };
    const { gateway } = await razorpayThat(answering(unknown, 400));
    expect(await gateway.fetchDispute('disp_1')).toBeNull();
    for (const strange of [{ id: 'disp_2' }, { status: 'drawn' }, { entity: 'payment' }]) {
      const other = await razorpayThat(answering({ ...entity, ...strange }));
      expect(await failureOf(other.gateway.fetchDispute('disp_1'))).toMatchObject({ kind: 'temporary' });
    }
  });
});

import { GatewayError } from '../../domain/gateway-error.ts';
import type { GatewayCapabilities, PreparedPayment } from '../../domain/gateway-facts.ts';
import { MAX_JSON_AMOUNT, formatMoney } from '../../domain/money.ts';
import type { SourceConfig } from '../../domain/source-config.ts';
import { isJsonObject } from '../event-body.ts';
import type { Gateway } from '../gateway.ts';
import { isPayableStep, toGatewayAmount } from '../minor-units.ts';
import { capturePayment } from './capture-payment.ts';
import { chargeSavedCard } from './charge-saved-card.ts';
import { createPayout } from './create-payout.ts';
import { STRIPE_CURRENCIES } from './currencies.ts';
import { intentFacts, refundFacts } from './facts.ts';
import { fetchDispute } from './fetch-dispute.ts';
import { fetchPayment } from './fetch-payment.ts';
import { isStripeId, refundParent, stripeIdempotencyKey } from './ids.ts';
import { listEvents } from './list-events.ts';
import { findRefunds, listRefunds } from './list-refunds.ts';
import { fetchPayout } from './fetch-payout.ts';
import { findCharges } from './find-charges.ts';
import { findPayouts } from './find-payouts.ts';
import { readStripeEvent } from './read-event.ts';
import type { StripeAccount } from './stripe-account.ts';
import { PAGE, createStripeApi, readPage } from './stripe-api.ts';
import { UNREADABLE_ANSWER } from './stripe-http-client.ts';
import { createStripeVerifier } from './verify-webhook.ts';
import { voidPayment } from './void-payment.ts';

interface StripeGatewayOptions {
  /** How far a webhook's own timestamp may lie from the clock, either side, in milliseconds. */
  readonly toleranceMs: number;
  /** One call, from the first byte to the last, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Below the ten seconds that a call to a gateway is given as an activity, so that the answer is ours and not a kill. */
const TIMEOUT_MS = 8_000;

const CAPABILITIES: GatewayCapabilities = {
  // Stripe publishes none; without better knowledge half a minute.
  settleMs: 30_000,
  // "At least 24 hours" says Stripe: what is surely still remembered.
  keyLifetimeMs: 24 * 60 * 60 * 1000,
  findsRefundsByReference: true,
  preparesPayments: true,
  chargesSavedCards: true,
  showsDisputes: true,
  paysOut: true,
  capturesPayments: true,
  capturesParts: true,
  voidsPayments: true,
  listsEvents: 'happened',
};

/** One Stripe account in one mode, through the official SDK. Methods throw as `Gateway` says. */
export function createStripeGateway(config: SourceConfig, options: StripeGatewayOptions): Gateway {
  const source = config.name;
  const api = createStripeApi(config, options.timeoutMs ?? TIMEOUT_MS);
  const account: StripeAccount = { source, api, refuse, literalAmount, payableAmount };

  function refuse(why: string, code: string): GatewayError {
    return new GatewayError(`${source} ${why}, so nothing was sent.`, { kind: 'rejected', code, ourFault: true });
  }

  function literalAmount(amount: bigint, currency: string): bigint {
    const literal = toGatewayAmount(amount, currency, STRIPE_CURRENCIES);
    if (literal !== null && literal > 0n && literal <= MAX_JSON_AMOUNT) return literal;
    throw refuse(`cannot be told ${formatMoney({ amount, currency })} exactly`, 'amount_not_exact');
  }

  function payableAmount(amount: bigint, currency: string): bigint {
    const literal = literalAmount(amount, currency);
    if (isPayableStep(literal, currency, STRIPE_CURRENCIES)) return literal;
    throw refuse(
      `takes no payment of ${formatMoney({ amount, currency })}: the last digit must be 0`,
      'amount_not_exact',
    );
  }

  return {
    source,
    capabilities: CAPABILITIES,
    verify: createStripeVerifier(config.webhookSecrets, options.toleranceMs),
    read: readStripeEvent,

    fetchPayment: (paymentId) => fetchPayment(api, paymentId),
    listRefunds: (paymentId) => listRefunds(api, paymentId),
    findRefunds: (paymentId, reference) => findRefunds(api, paymentId, reference),

    fetchDispute: (disputeId) => fetchDispute(api, disputeId),

    async createRefund({ paymentId, amount, currency, reference, idempotencyKey }) {
      if (!isStripeId(paymentId)) throw refuse(`has no payments with ids like ${paymentId}`, 'unknown_payment');
      const literal = literalAmount(amount, currency);
      return api.write(
        { what: `refund ${paymentId}`, badAmount: 'refund_exceeds_captured' },
        () =>
          api.sdk.refunds.create(
            { ...refundParent(paymentId), amount: Number(literal), metadata: { paidonce_reference: reference } },
            { idempotencyKey: stripeIdempotencyKey(idempotencyKey) },
          ),
        (refund) => {
          const facts = refundFacts(refund, paymentId);
          // Somebody else's refund is no answer to this.
          return facts !== null && (facts.reference ?? reference) === reference && facts.currency === currency
            ? { ...facts, reference }
            : null;
        },
      );
    },

    async findPayments(reference, orderId) {
      const what = `look for the payment ${reference}`;
      const query = `metadata['paidonce_reference']:'${reference.replaceAll(/['\\]/g, '\\$&')}'`;
      // Search lags by some seconds; what it has not seen yet is covered by the idempotency key, under which a repeated
      // create gives the same payment. Accounts without search are looked through as far as one page goes.
      const searched = await api.read(what, () => api.sdk.paymentIntents.search({ query, limit: PAGE }), isNotOffered);
      const answer = searched ?? (await api.read(what, () => api.sdk.paymentIntents.list({ limit: PAGE })));
      const page = readPage(answer);
      if (page === null) throw api.misread(what, 'temporary');
      return page.objects
        .map(preparedPayment)
        .filter((found) => found !== null)
        .filter(({ payment }) => payment.reference === reference && payment.orderId === orderId);
    },

    async preparePayment({ orderId, amount, currency, reference, idempotencyKey }) {
      const literal = payableAmount(amount, currency);
      return api.write(
        { what: `prepare a payment for order ${orderId}` },
        () =>
          api.sdk.paymentIntents.create(
            {
              amount: Number(literal),
              currency: currency.toLowerCase(),
              metadata: { order_id: orderId, paidonce_reference: reference },
            },
            { idempotencyKey: stripeIdempotencyKey(idempotencyKey) },
          ),
        preparedPayment,
      );
    },

    findCharges: (reference, customerId, since) => findCharges(account, reference, customerId, since),
    chargeSavedCard: (order) => chargeSavedCard(account, order),
    findPayouts: (reference, since) => findPayouts(account, reference, since),
    fetchPayout: (payoutId) => fetchPayout(account, payoutId),
    createPayout: (order) => createPayout(account, order),
    capturePayment: (order) => capturePayment(account, order),
    voidPayment: (order) => voidPayment(account, order),
    listEvents: (listing) => listEvents(api, listing),
  };
}

function isNotOffered({ statusCode, code }: { statusCode?: number; code?: string }): boolean {
  return (statusCode === 400 || statusCode === 404) && code !== UNREADABLE_ANSWER;
}

/** A PaymentIntent that a customer can pay; null for an answer that is none. */
function preparedPayment(intent: unknown): PreparedPayment | null {
  const payment = intentFacts(intent);
  const clientSecret = isJsonObject(intent) ? intent['client_secret'] : null;
  return payment === null || typeof clientSecret !== 'string' ? null : { payment, checkoutUrl: null, clientSecret };
}

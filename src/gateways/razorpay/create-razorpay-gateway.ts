import { GatewayError } from '../../domain/gateway-error.ts';
import type { GatewayCapabilities, RefundFacts } from '../../domain/gateway-facts.ts';
import { MAX_JSON_AMOUNT, formatMoney } from '../../domain/money.ts';
import type { SourceConfig } from '../../domain/source-config.ts';
import { isJsonObject } from '../event-body.ts';
import { isPresent } from '../fields.ts';
import type { Gateway } from '../gateway.ts';
import { toGatewayAmount } from '../minor-units.ts';
import { capturePayment } from './capture-payment.ts';
import { createPayout } from './create-payout.ts';
import { RAZORPAY_CURRENCIES } from './currencies.ts';
import { noteOf } from './event-kinds.ts';
import { paymentFacts, refundFacts } from './facts.ts';
import { fetchDispute } from './fetch-dispute.ts';
import { fetchPayout } from './fetch-payout.ts';
import { findPayouts } from './find-payouts.ts';
import { listEvents } from './list-events.ts';
import type { RazorpayAccount } from './razorpay-account.ts';
import { PAGE, createRazorpayApi } from './razorpay-api.ts';
import { readRazorpayEvent } from './read-event.ts';
import { refundIdempotencyKey, refundReceipt } from './refund-keys.ts';
import { createRazorpayVerifier } from './verify-webhook.ts';

interface RazorpayGatewayOptions {
  /** One call, from the first byte to the last, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Below the ten seconds that a call to a gateway is given as an activity, so that the answer is ours and not a kill. */
const TIMEOUT_MS = 8_000;
/** Pages in a row with nothing new: a few refunds made meanwhile move a short page's on, and more lead round in a circle. */
const MOST_REPEATS = 10;

const CAPABILITIES: Omit<GatewayCapabilities, 'paysOut'> = {
  // Razorpay publishes none; without better knowledge half a minute.
  settleMs: 30_000,
  // Razorpay does not say how long it remembers a key; a day is what others promise, and a look-up goes first anyway.
  keyLifetimeMs: 24 * 60 * 60 * 1000,
  findsRefundsByReference: true,
  // A payment there comes into being when the customer pays, so none can be prepared.
  preparesPayments: false,
  // It would take an order and then a payment, which knows no idempotency key, and the holder's address and telephone number.
  chargesSavedCards: false,
  capturesPayments: true,
  // It takes the amount that was authorised, and no other one.
  capturesParts: false,
  // What nobody captures goes back by itself, within days; there is no call for it.
  voidsPayments: false,
  showsDisputes: true,
  listsEvents: 'happened',
};

/** One Razorpay account in one mode, over plain REST. Methods throw as `Gateway` says. */
export function createRazorpayGateway(config: SourceConfig, options: RazorpayGatewayOptions = {}): Gateway {
  const source = config.name;
  const { accountNumber } = config;
  const api = createRazorpayApi(config, options.timeoutMs ?? TIMEOUT_MS);
  const account: RazorpayAccount = { source, api, accountNumber, refuse, literalAmount, misread };

  function literalAmount(amount: bigint, currency: string): bigint {
    const literal = toGatewayAmount(amount, currency, RAZORPAY_CURRENCIES);
    if (literal !== null && literal > 0n && literal <= MAX_JSON_AMOUNT) return literal;
    const money = formatMoney({ amount, currency });
    throw refuse(`${source} cannot be told ${money} exactly, so nothing was sent.`, 'amount_not_exact');
  }

  function misread(what: string, kind: 'temporary' | 'unknown'): GatewayError {
    const message = `${source} gave an answer about ${what} that could not be understood exactly.`;
    return new GatewayError(message, { kind, code: 'unreadable_answer' });
  }

  function refuseCharges(): Promise<never> {
    return Promise.reject(
      refuse(
        `${source} charges no saved cards: a repeated charge could not be told from a second one.`,
        'not_supported',
      ),
    );
  }

  async function listRefunds(paymentId: string): Promise<RefundFacts[]> {
    // By id: a refund that is made while we turn the pages moves the others on, and one of them comes twice.
    const found = new Map<string, RefundFacts>();
    let repeats = 0;
    for (let skip = 0; ;) {
      const answer = await api.get(`${paymentPath(paymentId)}/refunds?count=${PAGE}&skip=${skip}`);
      if (answer === null && skip === 0) return [];
      const items = isJsonObject(answer) ? answer['items'] : undefined;
      if (!Array.isArray(items)) throw misread(`the refunds of ${paymentId}`, 'temporary');
      const before = found.size;
      for (const item of items) {
        const refund = refundFacts(item, paymentId);
        if (refund === null) throw misread(`the refunds of ${paymentId}`, 'temporary');
        found.set(refund.refundId, refund);
      }
      // A short page may be the gateway's own limit; only an empty one is the end.
      if (items.length === 0) return [...found.values()];
      repeats = found.size === before ? repeats + 1 : 0;
      if (repeats > MOST_REPEATS) throw misread(`the refunds of ${paymentId}`, 'temporary');
      skip += items.length;
    }
  }

  /** Razorpay's order of a payment that does not say itself which of ours it is for. */
  async function orderOf(payment: unknown): Promise<unknown> {
    const orderId = isJsonObject(payment) && !isPresent(noteOf(payment, 'order_id')) ? payment['order_id'] : null;
    return typeof orderId === 'string' ? api.get(`/v1/orders/${encodeURIComponent(orderId)}`) : null;
  }

  return {
    source,
    capabilities: { ...CAPABILITIES, paysOut: accountNumber !== null },
    verify: createRazorpayVerifier(config.webhookSecrets),
    read: readRazorpayEvent,

    async fetchPayment(paymentId) {
      const answer = await api.get(paymentPath(paymentId));
      if (answer === null) return null;
      const facts = paymentFacts(answer, await orderOf(answer));
      if (facts?.paymentId !== paymentId) throw misread(`the payment ${paymentId}`, 'temporary');
      return facts;
    },

    listRefunds,

    async findRefunds(paymentId, reference) {
      return (await listRefunds(paymentId)).filter((refund) => refund.reference === reference);
    },

    fetchDispute: (disputeId) => fetchDispute(account, disputeId),

    async createRefund({ paymentId, amount, currency, reference, idempotencyKey }) {
      const literal = literalAmount(amount, currency);
      const answer = await api.post(
        `${paymentPath(paymentId)}/refund`,
        { amount: Number(literal), receipt: refundReceipt(reference), notes: { paidonce_reference: reference } },
        { 'x-refund-idempotency': refundIdempotencyKey(idempotencyKey) },
      );
      const refund = refundFacts(answer, paymentId);
      const ours = refund !== null && (refund.reference ?? reference) === reference && refund.currency === currency;
      if (!ours) throw misread(`the refund of ${paymentId}`, 'unknown');
      return { ...refund, reference };
    },

    findPayments: () => Promise.resolve([]),

    preparePayment: () =>
      Promise.reject(
        refuse(
          `${source} makes a payment only when the customer pays; start the checkout with its own order API.`,
          'not_supported',
        ),
      ),

    findCharges: refuseCharges,
    chargeSavedCard: refuseCharges,
    findPayouts: (reference) => findPayouts(account, reference),
    fetchPayout: (payoutId) => fetchPayout(account, payoutId),
    createPayout: (order) => createPayout(account, order),
    capturePayment: (order) => capturePayment(account, order),
    voidPayment: () =>
      Promise.reject(refuse(`${source} voids no payments: what is not captured goes back by itself.`, 'not_supported')),
    listEvents: (listing) => listEvents(account, listing),
  };
}

function paymentPath(paymentId: string): string {
  return `/v1/payments/${encodeURIComponent(paymentId)}`;
}

function refuse(message: string, code: string): GatewayError {
  return new GatewayError(message, { kind: 'rejected', code, ourFault: true });
}

import type { z } from 'zod';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { GatewayCapabilities } from '../../domain/gateway-facts.ts';
import { MAX_JSON_AMOUNT } from '../../domain/money.ts';
import { DEFAULT_POLICIES } from '../../domain/policies.ts';
import type { SourceConfig } from '../../domain/source-config.ts';
import { parseExactJson } from '../exact-json.ts';
import type { Gateway } from '../gateway.ts';
import { createJsonHttp } from '../http.ts';
import {
  paymentAnswer,
  preparedPaymentAnswer,
  preparedPaymentsAnswer,
  refundAnswer,
  refundsAnswer,
} from './answers.ts';
import { chargeSavedCard } from './charge-saved-card.ts';
import { createPayout } from './create-payout.ts';
import { endPayment } from './end-payment.ts';
import { fetchPayout } from './fetch-payout.ts';
import { findCharges } from './find-charges.ts';
import { findPayouts } from './find-payouts.ts';
import { listEvents } from './list-events.ts';
import { objectPath, queryPath } from './paths.ts';
import { readEvent } from './read-event.ts';
import type { StandardApi } from './standard-api.ts';
import { createWebhookVerifier } from './verify-webhook.ts';

interface StandardGatewayOptions {
  /** One call, first byte to last, in milliseconds. */
  readonly timeoutMs?: number;
  /** How far a webhook's own timestamp may lie from the clock, either side, in milliseconds. */
  readonly toleranceMs?: number;
}

/** Below the ten seconds that a call to a gateway is given as an activity, so that the answer is ours and not a kill. */
const TIMEOUT_MS = 8_000;

const CAPABILITIES: Omit<GatewayCapabilities, 'capturesPayments' | 'capturesParts' | 'voidsPayments'> = {
  settleMs: 5_000,
  // The protocol allows a gateway to forget a key at once, so none is relied on.
  keyLifetimeMs: null,
  findsRefundsByReference: true,
  preparesPayments: true,
  chargesSavedCards: true,
  showsDisputes: false,
  paysOut: true,
  listsEvents: 'sent',
};

/** A 409 or 425 that names none of the protocol's refusals: an earlier request of ours is at work, and what it does is what counts. */
const STILL_RUNNING: readonly string[] = ['request_in_progress', 'http_409', 'http_425', 'too_early'];

function unknownAsYet({ message, retryAfterMs, cause }: GatewayError): GatewayError {
  return new GatewayError(message, { kind: 'unknown', code: 'request_in_progress', retryAfterMs, cause });
}

/**
 * A gateway that speaks the `standard` protocol. Throws a plain `Error` at once where the source's configuration
 * cannot work; the methods throw as `Gateway` says.
 */
export function createStandardGateway(config: SourceConfig, options: StandardGatewayOptions = {}): Gateway {
  const source = config.name;
  const { extensions = [] } = config;
  if (config.apiBase === null)
    throw new Error(`The source ${source} needs an api_base: a standard gateway has no public one.`);
  const http = createJsonHttp({
    source,
    baseUrl: config.apiBase,
    headers: { authorization: `Bearer ${config.apiKey}`, accept: 'application/json' },
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    parse: parseExactJson,
  });

  function odd(path: string, kind: 'temporary' | 'unknown', cause?: unknown): GatewayError {
    return new GatewayError(`${source} gave an answer that its protocol does not allow (${path}).`, {
      kind,
      code: 'unexpected_answer',
      cause,
    });
  }

  async function read<T>(
    path: string,
    schema: z.ZodType<T>,
    parse: (text: string) => unknown = parseExactJson,
  ): Promise<T | null> {
    const answer = await http.get(path, parse);
    if (answer === null) return null;
    const parsed = schema.safeParse(answer);
    if (!parsed.success) throw odd(path, 'temporary', parsed.error);
    return parsed.data;
  }

  /** A list that is not there proves nothing absent: taken for empty, it would have money sent a second time. */
  async function readList<T>(path: string, schema: z.ZodType<T[]>): Promise<T[]> {
    const list = await read(path, schema);
    if (list !== null) return list;
    throw new GatewayError(`${source} does not know the list ${path}.`, { kind: 'temporary', code: 'http_404' });
  }

  async function write<T>(path: string, body: object, key: string, schema: z.ZodType<T>): Promise<T> {
    const answer = await http.post(path, body, { 'idempotency-key': key }).catch((error: unknown) => {
      throw error instanceof GatewayError && STILL_RUNNING.includes(error.code) ? unknownAsYet(error) : error;
    });
    const parsed = schema.safeParse(answer);
    if (!parsed.success) throw odd(path, 'unknown', parsed.error);
    return parsed.data;
  }

  function jsonAmount(amount: bigint): number {
    if (amount <= MAX_JSON_AMOUNT) return Number(amount);
    throw new GatewayError(`An amount of ${amount} cannot be sent to ${source} exactly, so nothing was sent.`, {
      kind: 'rejected',
      code: 'amount_too_large',
      ourFault: true,
    });
  }

  const api: StandardApi = { read, readList, write, jsonAmount, odd };

  return {
    source,
    capabilities: {
      ...CAPABILITIES,
      capturesPayments: extensions.includes('capture'),
      capturesParts: extensions.includes('capture'),
      voidsPayments: extensions.includes('void'),
    },
    verify: createWebhookVerifier(config.webhookSecrets, options.toleranceMs ?? DEFAULT_POLICIES.webhookToleranceMs),
    read: readEvent,

    async fetchPayment(paymentId) {
      const path = objectPath('/payments', paymentId);
      if (path === null) return null;
      const payment = await read(path, paymentAnswer);
      if (payment !== null && payment.paymentId !== paymentId) throw odd(path, 'temporary');
      return payment;
    },

    async listRefunds(paymentId) {
      const refunds = await readList(queryPath('/refunds', { payment_id: paymentId }), refundsAnswer);
      // A gateway that does not know the filter answers with everybody's.
      return refunds.filter((refund) => refund.paymentId === paymentId);
    },

    async findRefunds(paymentId, reference) {
      const path = queryPath('/refunds', { reference });
      const refunds = (await readList(path, refundsAnswer)).filter((refund) => refund.reference === reference);
      // Neither "found" nor "absent" would be true of it.
      if (refunds.some((refund) => refund.paymentId !== paymentId)) throw odd(path, 'temporary');
      return refunds;
    },

    fetchDispute: () =>
      Promise.reject(
        new GatewayError(`${source} shows no disputes: its events are the truth about them.`, {
          ...{ kind: 'rejected', code: 'not_supported', ourFault: true },
        }),
      ),

    async createRefund({ paymentId, amount, currency, reference, idempotencyKey }) {
      const body = { payment_id: paymentId, amount: jsonAmount(amount), reference };
      const refund = await write('/refunds', body, idempotencyKey, refundAnswer);
      // What answers our own call is ours, whether it repeats our reference or not; what answers another one is not understood.
      const ours = refund.paymentId === paymentId && (refund.reference ?? reference) === reference;
      if (!ours || refund.currency !== currency) throw odd('/refunds', 'unknown');
      return { ...refund, reference };
    },

    async findPayments(reference, orderId) {
      const path = queryPath('/payments', { reference });
      const found = (await readList(path, preparedPaymentsAnswer)).filter(
        ({ payment }) => payment.reference === reference,
      );
      if (found.some(({ payment }) => payment.orderId !== orderId)) throw odd(path, 'temporary');
      return found;
    },

    async preparePayment({ orderId, amount, currency, reference, idempotencyKey, returnUrl }) {
      const body = {
        order_id: orderId,
        amount: jsonAmount(amount),
        currency,
        reference,
        ...(returnUrl === null ? {} : { return_url: returnUrl }),
      };
      const prepared = await write('/payments', body, idempotencyKey, preparedPaymentAnswer);
      if (prepared.payment.orderId !== orderId) throw odd('/payments', 'unknown');
      return prepared;
    },

    findCharges: (reference) => findCharges(api, reference),
    chargeSavedCard: (order) => chargeSavedCard(api, order),
    findPayouts: (reference) => findPayouts(api, reference),
    fetchPayout: (payoutId) => fetchPayout(api, payoutId),
    createPayout: (order) => createPayout(api, order),
    capturePayment: (order) => endPayment(api, config, 'capture', order),
    voidPayment: (order) => endPayment(api, config, 'void', order),
    listEvents: (listing) => listEvents(api, listing),
  };
}

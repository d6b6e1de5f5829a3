import { PaidonceError, type ProblemBody } from './api-error.ts';
import type {
  Capture,
  Charge,
  NewCharge,
  NewPayout,
  NewRefund,
  NewTopUp,
  Payout,
  Refund,
  TopUp,
  Void,
  Wallet,
} from './money-types.ts';
import type { Checkout, Confirmation, NewOrder, Order, Payment, TimelineEntry } from './types.ts';

export interface HttpClientOptions {
  /** Where the API is, as `https://payments.internal`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Longer than the API's own longest wait of 5 s. */
  readonly timeoutMs?: number;
}

/**
 * Names one action of yours, derived from what it is about (`checkout:cart-17`) and never drawn anew for a retry: the same
 * key again answers the same and does nothing more.
 */
export interface Keyed {
  readonly idempotencyKey: string;
}

/**
 * The HTTP API for other services. Nothing is repeated by itself: send the same key again when you will.
 *
 * What moves money answers with its row as it stands when the gateway has answered, or after 5 s: where `status` is `pending`,
 * `unknown` or `needs_review` then, `get` it again later. A card that is declined is an answer: `failed` with its `failure_code`.
 */
export interface HttpClient {
  readonly orders: {
    create(order: NewOrder, keyed: Keyed): Promise<Order>;
    get(orderId: string): Promise<Order>;
    /** Safe to repeat. */
    cancel(orderId: string): Promise<Order>;
    /** `status` is `pending` or `unknown` while the gateway is silent: ask again with `getCheckout`. */
    checkOut(orderId: string, checkout: { source: string; return_url?: string }, keyed: Keyed): Promise<Checkout>;
    getCheckout(orderId: string, n: number): Promise<Checkout>;
  };
  readonly payments: {
    get(source: string, paymentId: string): Promise<Payment>;
    timeline(source: string, paymentId: string): Promise<TimelineEntry[]>;
    /** The customer's browser came back. */
    confirm(source: string, paymentId: string): Promise<Confirmation>;
    /** Takes the money of an authorised payment: all of it, or `amount` in minor units; the rest is released. */
    capture(source: string, paymentId: string, part: { amount?: number }, keyed: Keyed): Promise<Capture>;
    getCapture(source: string, paymentId: string): Promise<Capture>;
    /** Lets an authorised payment go. */
    void(source: string, paymentId: string, keyed: Keyed): Promise<Void>;
    getVoid(source: string, paymentId: string): Promise<Void>;
  };
  readonly refunds: {
    create(refund: NewRefund, keyed: Keyed): Promise<Refund>;
    get(refundId: string): Promise<Refund>;
  };
  readonly payouts: {
    create(payout: NewPayout, keyed: Keyed): Promise<Payout>;
    get(payoutId: string): Promise<Payout>;
  };
  readonly charges: {
    create(charge: NewCharge, keyed: Keyed): Promise<Charge>;
    get(chargeId: string): Promise<Charge>;
  };
  readonly wallets: {
    get(walletId: string): Promise<Wallet>;
    /** The first one makes the wallet. */
    topUp(walletId: string, topUp: NewTopUp, keyed: Keyed): Promise<TopUp>;
    getTopUp(topUpId: string): Promise<TopUp>;
  };
}

const TIMEOUT_MS = 15_000;

/** Every method throws a PaidonceError for a refusal, and what `fetch` throws where no answer came. */
export function createHttpClient({ baseUrl, apiKey, timeoutMs = TIMEOUT_MS }: HttpClientOptions): HttpClient {
  const origin = baseUrl.replace(/\/+$/, '');

  async function call<T>(method: 'GET' | 'POST', parts: readonly string[], sent?: object, keyed?: Keyed): Promise<T> {
    const response = await fetch(`${origin}/v1/${parts.map(encodeURIComponent).join('/')}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...(keyed === undefined ? {} : { 'idempotency-key': keyed.idempotencyKey }),
      },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
    if (response.ok && isJson) return JSON.parse(text) as T;
    throw new PaidonceError(
      response.status,
      isJson ? (JSON.parse(text) as ProblemBody) : {},
      response.headers.get('retry-after'),
    );
  }

  return {
    orders: {
      create: (order, keyed) => call('POST', ['orders'], order, keyed),
      get: (orderId) => call('GET', ['orders', orderId]),
      cancel: (orderId) => call('POST', ['orders', orderId, 'cancel']),
      checkOut: (orderId, checkout, keyed) => call('POST', ['orders', orderId, 'checkout'], checkout, keyed),
      getCheckout: (orderId, n) => call('GET', ['orders', orderId, 'checkouts', String(n)]),
    },
    payments: {
      get: (source, paymentId) => call('GET', ['payments', source, paymentId]),
      async timeline(source, paymentId) {
        return (await call<{ data: TimelineEntry[] }>('GET', ['payments', source, paymentId, 'timeline'])).data;
      },
      confirm: (source, paymentId) => call('POST', ['payments', source, paymentId, 'confirm']),
      capture: (source, paymentId, part, keyed) =>
        call('POST', ['payments', source, paymentId, 'capture'], part, keyed),
      getCapture: (source, paymentId) => call('GET', ['payments', source, paymentId, 'capture']),
      void: (source, paymentId, keyed) => call('POST', ['payments', source, paymentId, 'void'], {}, keyed),
      getVoid: (source, paymentId) => call('GET', ['payments', source, paymentId, 'void']),
    },
    refunds: {
      create: (refund, keyed) => call('POST', ['refunds'], refund, keyed),
      get: (refundId) => call('GET', ['refunds', refundId]),
    },
    payouts: {
      create: (payout, keyed) => call('POST', ['payouts'], payout, keyed),
      get: (payoutId) => call('GET', ['payouts', payoutId]),
    },
    charges: {
      create: (charge, keyed) => call('POST', ['charges'], charge, keyed),
      get: (chargeId) => call('GET', ['charges', chargeId]),
    },
    wallets: {
      get: (walletId) => call('GET', ['wallets', walletId]),
      topUp: (walletId, topUp, keyed) => call('POST', ['wallets', walletId, 'top-ups'], topUp, keyed),
      getTopUp: (topUpId) => call('GET', ['top-ups', topUpId]),
    },
  };
}

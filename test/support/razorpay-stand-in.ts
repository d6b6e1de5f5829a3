import { createHmac, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { RazorpayPayouts } from './razorpay-payouts.ts';
import { sendJson, startScriptedServer, type ScriptedServer, type SeenRequest } from './scripted-server.ts';

export interface StandInPayment {
  id: string;
  entity: 'payment';
  amount: number;
  currency: string;
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed';
  captured: boolean;
  amount_refunded: number;
  notes: Record<string, unknown> | never[];
  created_at: number;
}

export interface StandInRefund {
  id: string;
  entity: 'refund';
  amount: number;
  currency: string;
  payment_id: string;
  notes: Record<string, unknown> | never[];
  receipt: string | null;
  status: 'pending' | 'processed' | 'failed';
  created_at: number;
}

export interface RazorpayStandIn extends ScriptedServer {
  /** `key_id:key_secret`. */
  readonly apiKey: string;
  readonly payments: Map<string, StandInPayment>;
  /** In the order they were made. */
  readonly refunds: StandInRefund[];
  readonly payouts: RazorpayPayouts;
  addPayment(payment: Partial<StandInPayment>): StandInPayment;
  /** The next refund, payout or capture is made, and the connection then breaks without an answer. */
  loseNextAnswer(): void;
  /** The next refund or payout is at work until the answer is called for; others under its key are told so. */
  holdNextRefund(): () => void;
  /** A webhook as Razorpay would send it. */
  sign(event: object, secret: string, eventId?: string): { body: Buffer; headers: Record<string, string> };
}

interface KeyUse {
  readonly body: string;
  answer: object | null;
}

/** A key's header, the keys it allows, and whether it may be missing. */
interface KeyRule {
  readonly header: string;
  readonly allowed: RegExp;
  readonly optional: boolean;
}

const REFUND_KEYS: KeyRule = { header: 'x-refund-idempotency', allowed: /^[A-Za-z0-9_-]{10,}$/, optional: true };
const NO_KEYS: KeyRule = { header: 'x-no-idempotency', allowed: /^$/, optional: true };
const PAYOUT_KEYS: KeyRule = { header: 'x-payout-idempotency', allowed: /^[A-Za-z0-9_ -]{4,36}$/, optional: false };

/**
 * Razorpay as its documentation describes it, as far as payments, captures, refunds and payouts go: pages of ten unless asked for
 * more, the idempotency headers with their alphabets and their refusals, unknown ids as 400, signed webhooks.
 */
export async function startRazorpayStandIn(): Promise<RazorpayStandIn> {
  const apiKey = `rzp_test_${randomBytes(7).toString('hex')}:${randomBytes(12).toString('hex')}`;
  const payments = new Map<string, StandInPayment>();
  const refunds: StandInRefund[] = [];
  const payouts = new RazorpayPayouts();
  const keys = new Map<string, KeyUse>();
  let losing = false;
  let held: Promise<void> | null = null;

  const server = await startScriptedServer(async (request, response) => {
    if (request.headers.authorization !== `Basic ${Buffer.from(apiKey).toString('base64')}`) {
      return refuse(response, 401, 'Authentication failed');
    }
    const url = new URL(request.path, 'http://stand-in');
    if (/^\/v1\/(payouts|fund_accounts)\b/.test(url.pathname)) return ofPayouts(url, request, response);
    const [, id = '', action] = /^\/v1\/payments\/([^/]+)(?:\/(refund|refunds|capture))?$/.exec(url.pathname) ?? [];
    const payment = payments.get(decodeURIComponent(id));
    if (request.method === 'GET' && url.pathname === '/v1/payments')
      return sendJson(response, 200, pageOf([...payments.values()], url));
    if (request.method === 'GET' && url.pathname === '/v1/refunds')
      return sendJson(response, 200, pageOf(refunds, url));
    if (id === '') return refuse(response, 400, 'The requested URL was not found on the server.');
    if (payment === undefined) return refuse(response, 400, 'The id provided does not exist');
    if (request.method === 'GET' && action === undefined) return sendJson(response, 200, payment);
    if (request.method === 'GET' && action === 'refunds')
      return sendJson(
        response,
        200,
        pageOf(
          refunds.filter((one) => one.payment_id === payment.id),
          url,
        ),
      );
    if (request.method === 'POST' && action === 'refund') return refund(payment, request, response);
    if (request.method === 'POST' && action === 'capture') return capture(payment, request, response);
    return refuse(response, 405, 'Method not allowed');
  });

  /** Newest first, as Razorpay lists, and by the time of their making, both ends included. */
  function pageOf(made: readonly { readonly created_at: number }[], url: URL): object {
    const [count = 10, skip = 0, from = 0, to = Infinity] = ['count', 'skip', 'from', 'to'].map((name) => {
      const value = url.searchParams.get(name);
      return value === null ? undefined : Number(value);
    });
    const all = made.filter((one) => one.created_at >= from && one.created_at <= to).toReversed();
    const items = all.slice(skip, skip + Math.min(count, 100));
    return { entity: 'collection', count: items.length, items };
  }

  function ofPayouts(url: URL, request: SeenRequest, response: ServerResponse): unknown {
    if (request.method === 'POST' && url.pathname === '/v1/payouts') {
      return once(PAYOUT_KEYS, request, response, () => payouts.make(JSON.parse(request.body)));
    }
    const [, list = '', id] = /^\/v1\/(payouts|fund_accounts)(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
    if (request.method !== 'GET') return refuse(response, 405, 'Method not allowed');
    const page = list === 'payouts' && id === undefined ? payouts.page(url.searchParams) : undefined;
    const one: object | undefined =
      list === 'payouts' ? payouts.made.find((payout) => payout.id === id) : payouts.fundAccounts.get(id ?? '');
    const found = page ?? one ?? 'The id provided does not exist';
    return typeof found === 'string' ? refuse(response, 400, found) : sendJson(response, 200, found);
  }

  function refund(payment: StandInPayment, request: SeenRequest, response: ServerResponse): Promise<void> {
    return once(REFUND_KEYS, request, response, () => makeRefund(payment, JSON.parse(request.body)));
  }

  /** No key is known here. */
  function capture(payment: StandInPayment, request: SeenRequest, response: ServerResponse): Promise<void> {
    return once(NO_KEYS, request, response, () => {
      const { amount, currency } = JSON.parse(request.body) as { amount?: unknown; currency?: unknown };
      if (payment.captured) return 'This payment has already been captured';
      if (payment.status !== 'authorized') return 'The payment is not authorized, and cannot be captured';
      if (amount !== payment.amount || currency !== payment.currency) {
        return 'The amount and the currency must be those that were authorized';
      }
      payment.status = 'captured';
      payment.captured = true;
      return { ...payment };
    });
  }

  /** Makes one object under its key; `make` says why not where it cannot. */
  async function once(
    { header, allowed, optional }: KeyRule,
    request: SeenRequest,
    response: ServerResponse,
    make: () => object | string,
  ): Promise<void> {
    const key = request.headers[header];
    const name = `${header} ${String(key)}`;
    let use: KeyUse | null = null;
    if (key === undefined && !optional) return refuse(response, 400, 'Idempotency key is missing.');
    if (key !== undefined) {
      if (typeof key !== 'string' || !allowed.test(key)) {
        return refuse(
          response,
          400,
          'The idempotency key has too few or too many characters, or others than it may have',
        );
      }
      const earlier = keys.get(name);
      if (earlier !== undefined) {
        if (earlier.body !== request.body)
          return refuse(response, 400, 'Another request was sent with this idempotency key');
        if (earlier.answer === null) return refuse(response, 409, 'A request with this key is being processed');
        return sendJson(response, 200, earlier.answer);
      }
      use = { body: request.body, answer: null };
      keys.set(name, use);
    }
    const waiting = held;
    held = null;
    await waiting;
    const made = make();
    if (typeof made === 'string') {
      keys.delete(name);
      return refuse(response, 400, made);
    }
    if (use !== null) use.answer = made;
    const lose = losing;
    losing = false;
    if (lose) response.socket?.destroy();
    else sendJson(response, 200, made);
  }

  function makeRefund(payment: StandInPayment, body: any): StandInRefund | string {
    const amount: unknown = body.amount ?? payment.amount - payment.amount_refunded;
    if (typeof amount !== 'number' || !Number.isInteger(amount) || amount < 1) return 'The amount must be an integer.';
    if (typeof body.receipt === 'string' && body.receipt.length > 40)
      return 'The receipt may not be greater than 40 characters.';
    if (payment.status === 'refunded') return 'The payment has been fully refunded already';
    if (payment.status !== 'captured') return 'The payment status should be captured for action to be taken';
    if (payment.amount_refunded + amount > payment.amount) {
      return 'The total refund amount is greater than the refund payment amount';
    }
    payment.amount_refunded += amount;
    if (payment.amount_refunded === payment.amount) payment.status = 'refunded';
    const made: StandInRefund = {
      id: `rfnd_${randomBytes(7).toString('hex')}`,
      entity: 'refund',
      amount,
      currency: payment.currency,
      payment_id: payment.id,
      notes: body.notes ?? [],
      receipt: body.receipt ?? null,
      status: 'processed',
      created_at: Math.floor(Date.now() / 1000),
    };
    refunds.push(made);
    return made;
  }

  return {
    ...server,
    apiKey,
    payments,
    refunds,
    payouts,
    addPayment(given) {
      const payment: StandInPayment = {
        id: `pay_${randomBytes(7).toString('hex')}`,
        entity: 'payment',
        amount: 50_000,
        currency: 'INR',
        status: 'captured',
        captured: given.status === undefined || given.status === 'captured' || given.status === 'refunded',
        amount_refunded: 0,
        notes: [],
        created_at: Math.floor(Date.now() / 1000),
        ...given,
      };
      payments.set(payment.id, payment);
      return payment;
    },
    loseNextAnswer() {
      losing = true;
    },
    holdNextRefund() {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    sign(event, secret, eventId) {
      const body = Buffer.from(JSON.stringify(event));
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      return {
        body,
        headers: {
          'x-razorpay-signature': signature,
          ...(eventId === undefined ? {} : { 'x-razorpay-event-id': eventId }),
        },
      };
    },
  };
}

function refuse(response: ServerResponse, status: number, description: string): void {
  const error = { code: 'BAD_REQUEST_ERROR', description, source: 'business', step: 'NA', reason: 'NA', metadata: {} };
  sendJson(response, status, { error });
}

import type { DisputeFacts, Mode, PaymentFacts, RefundFacts } from '../../../src/domain/gateway-facts.ts';
import { GatewayError } from '../../../src/domain/gateway-error.ts';
import type { Gateway } from '../../../src/gateways/gateway.ts';
import { createRazorpayGateway } from '../../../src/gateways/razorpay/create-razorpay-gateway.ts';
import { createStandardGateway } from '../../../src/gateways/standard/create-standard-gateway.ts';
import { createStripeGateway } from '../../../src/gateways/stripe/create-stripe-gateway.ts';
import type { Happening, SourceName } from './scenario.ts';

interface Known {
  readonly payments: Map<string, PaymentFacts>;
  readonly refunds: Map<string, RefundFacts[]>;
  readonly disputes: Map<string, DisputeFacts>;
}

/** What the gateways of one order of delivery know, and how much of it they show. */
export class Truth {
  private readonly tag: string;
  private readonly known: Known = { payments: new Map(), refunds: new Map(), disputes: new Map() };
  /** A replica that lags: how much of the story it has heard; null where there is none. Every other look meets it. */
  private replica: Truth | null = null;
  private looks = 0;
  /** What will have happened in the end, in its order. */
  private readonly toCome: Happening[];

  constructor(tag: string, story: readonly Happening[]) {
    this.tag = tag;
    this.toCome = [...story];
  }

  /** From now on there is a replica, which hears of the story by itself. */
  lagBehind(replica: Truth): void {
    this.replica = replica;
  }

  /** Whom a look meets: of two that ask one after the other, one meets the replica. */
  asked(): Truth {
    this.looks += 1;
    return this.replica !== null && this.looks % 2 === 0 ? this.replica : this;
  }

  /** The next `n` of the story. */
  advance(n: number): void {
    for (const happening of this.toCome.splice(0, n)) this.happen(happening);
  }

  happen(happening: Happening): void {
    const key = (id: string) => JSON.stringify([happening.source, mark(id, this.tag)]);
    if ('payment' in happening) {
      const { source: _, payment, ...facts } = happening;
      const known = this.known.payments.get(key(payment));
      const fresh: PaymentFacts = {
        ...{
          paymentId: mark(payment, this.tag),
          orderId: mark('ord_1~', this.tag),
          reference: null,
          status: 'pending',
        },
        ...{ amount: 10_000n, currency: 'EUR', amountRefunded: null, mode: 'test' },
      };
      this.known.payments.set(key(payment), { ...fresh, ...known, ...marked(facts, this.tag) });
      return;
    }
    if ('dispute' in happening) {
      const { source: _, dispute, of, ...facts } = happening;
      const fresh: DisputeFacts = {
        ...{ disputeId: mark(dispute, this.tag), paymentId: mark(of, this.tag), status: 'opened', amount: 10_000n },
        ...{ currency: 'EUR', withheld: true, fee: null, feeCurrency: null, openedAt: null },
      };
      this.known.disputes.set(key(dispute), { ...fresh, ...this.known.disputes.get(key(dispute)), ...facts });
      return;
    }
    const { source: _, refund, of, ...facts } = happening;
    const refundId = mark(refund, this.tag);
    const list = this.known.refunds.get(key(of)) ?? [];
    const fresh: RefundFacts = {
      ...{ refundId, paymentId: mark(of, this.tag), amount: 10_000n, currency: 'EUR', status: 'pending' },
      ...{ reference: null, failureCode: null },
    };
    const known = list.find((one) => one.refundId === refundId);
    const now = { ...fresh, ...known, ...marked(facts, this.tag) };
    this.known.refunds.set(key(of), [...list.filter((one) => one !== known), now]);
  }

  payment(source: string, paymentId: string): PaymentFacts | null {
    const payment = this.known.payments.get(JSON.stringify([source, paymentId]));
    if (payment === undefined) return null;
    const back = this.refundsOf(source, paymentId).filter((refund) => refund.status === 'succeeded');
    return { ...payment, amountRefunded: back.reduce((sum, refund) => sum + refund.amount, 0n) };
  }

  dispute(source: string, disputeId: string): DisputeFacts | null {
    return this.known.disputes.get(JSON.stringify([source, disputeId])) ?? null;
  }

  /** Newest first, as gateways list them. */
  refundsOf(source: string, paymentId: string): RefundFacts[] {
    return [...(this.known.refunds.get(JSON.stringify([source, paymentId])) ?? [])].reverse();
  }

  /**
   * As a gateway does it: never more than was captured, and the same refund under the same reference, also where it does not
   * show that one yet.
   */
  refund(source: SourceName, paymentId: string, amount: bigint, currency: string, reference: string): RefundFacts {
    const made = () => this.refundsOf(source, paymentId).find((refund) => refund.reference === reference);
    const hidden = this.toCome.findIndex((one) => 'refund' in one && mark(one.reference ?? '', this.tag) === reference);
    if (made() === undefined && hidden >= 0) this.advance(hidden + 1);
    const known = made();
    if (known !== undefined) return known;
    const captured = this.payment(source, paymentId)?.amount ?? 0n;
    const standing = this.refundsOf(source, paymentId).filter((refund) => refund.status !== 'failed');
    if (standing.reduce((sum, refund) => sum + refund.amount, amount) > captured) {
      throw new GatewayError('More than is left.', { kind: 'rejected', code: 'refund_exceeds_captured' });
    }
    const refundId = `rf_of_${reference}`;
    const done: Happening = {
      source,
      refund: refundId,
      of: paymentId,
      amount,
      currency,
      reference,
      status: 'succeeded',
    };
    this.happen(done);
    this.replica?.happen(done);
    const fresh = made();
    if (fresh === undefined) throw new Error('A refund that was made is there.');
    return fresh;
  }
}

/** `pay_1~` in this order of delivery; what is marked already stays. */
export function mark(text: string, tag: string): string {
  return text.replaceAll(/~(?![a-z0-9])/g, `~${tag}`);
}

/** Back again. */
export function unmark(text: string): string {
  return text.replaceAll(/~[a-z0-9]+/g, '~');
}

/** The order of delivery that a text belongs to; null where it names none. */
export function tagOf(text: string): string | null {
  return /~([a-z0-9]+)/.exec(text)?.[1] ?? null;
}

function marked<T extends object>(facts: T, tag: string): T {
  const entries = Object.entries(facts).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === 'string' ? mark(value, tag) : value,
  ]);
  return Object.fromEntries(entries) as T;
}

const CONFIG = {
  mode: 'test',
  apiBase: 'http://127.0.0.1:1',
  apiKey: 'k:s',
  accountNumber: null,
  webhookSecrets: [],
} as const;

/** The real adapters with their eyes on the truths of many orders of delivery in place of a gateway. */
export function gatewaysOf(truthOf: (id: string) => Truth): Map<string, { gateway: Gateway; mode: Mode }> {
  const adapters: Record<SourceName, Gateway> = {
    sim: createStandardGateway({ ...CONFIG, name: 'sim', kind: 'standard' }, { toleranceMs: 0 }),
    stripe: createStripeGateway({ ...CONFIG, name: 'stripe', kind: 'stripe' }, { toleranceMs: 0 }),
    razorpay: createRazorpayGateway({ ...CONFIG, name: 'razorpay', kind: 'razorpay' }),
  };
  const entries = Object.entries(adapters) as [SourceName, Gateway][];
  return new Map(
    entries.map(([source, adapter]) => {
      const gateway: Gateway = {
        ...adapter,
        fetchPayment: (paymentId) => Promise.resolve(truthOf(paymentId).asked().payment(source, paymentId)),
        fetchDispute: (disputeId) => Promise.resolve(truthOf(disputeId).asked().dispute(source, disputeId)),
        listRefunds: (paymentId) => Promise.resolve(truthOf(paymentId).refundsOf(source, paymentId)),
        findRefunds: (paymentId, reference) =>
          Promise.resolve(
            truthOf(paymentId)
              .refundsOf(source, paymentId)
              .filter((one) => one.reference === reference),
          ),
        // Async, so that a refusal is a rejection.
        createRefund: async ({ paymentId, amount, currency, reference }) =>
          Promise.resolve(truthOf(paymentId).refund(source, paymentId, amount, currency, reference)),
      };
      return [source, { gateway, mode: 'test' as const }];
    }),
  );
}

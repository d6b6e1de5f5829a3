import type { DisputeFacts, PaymentFacts, RefundFacts } from '../../../src/domain/gateway-facts.ts';
import type { Policies } from '../../../src/domain/policies.ts';
import type { SeedLine } from '../seed.ts';

/**
 * What happened to one order, told once in the order in which it happened and then delivered in every other. Ids end in
 * `~`, which becomes the mark of one order of delivery (`pay_1~` is `pay_1~c41` there), so that many run side by side.
 */
export interface Scenario {
  readonly name: string;
  /** Made before anything else unless a step makes it; 100.00 EUR for an enrolment without more. */
  readonly order?: {
    readonly lines?: readonly SeedLine[];
    readonly currency?: string;
    /** Its time is over: the step `expire` lets it expire. */
    readonly expires?: boolean;
  };
  readonly policies?: Partial<Policies>;
  /** Done in this order before the steps, which come in every order. */
  readonly before?: readonly Step[];
  /** A table that has to be there. */
  readonly needs?: string;
  /** Refunds that the machine owes are carried out when all has come: a person at the gateway is quicker. */
  readonly refundsWait?: boolean;
  /** The gateway is taken to show what it tells: what comes of it if it does not is said in the scenario's file. */
  readonly prompt?: boolean;
  /** In the order in which they happened. */
  readonly steps: readonly Step[];
  /**
   * `one`: every order of delivery ends the same, whatever the gateway shows meanwhile. `by order status`: those do that
   * leave the order alike. `rules`: which payment is kept is decided by who comes first.
   */
  readonly ends: 'one' | 'by order status' | 'rules';
  /** Rows that are the same at the end of every order of delivery: by table, what some row of it looks like, or how many there are. */
  readonly always: Readonly<Record<string, readonly object[] | number>>;
}

export type Step =
  | Webhook
  | { readonly does: 'create order' | 'cancel' | 'expire' }
  | { readonly does: 'confirm'; readonly source: SourceName; readonly paymentId: string; readonly caller: string }
  | { readonly does: 'ask for refund'; readonly id: string; readonly paymentId: string; readonly amount: bigint }
  | { readonly does: 'run refund'; readonly id: string }
  | { readonly does: 'reserve top-up'; readonly id: string };

export type SourceName = 'sim' | 'stripe' | 'razorpay';

export interface Webhook {
  readonly does: 'webhook';
  readonly source: SourceName;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  /** What had happened at the gateway when it was sent, since the step before. */
  readonly happened: readonly Happening[];
}

/** A change at the gateway. */
export type Happening =
  | ({ readonly source: SourceName; readonly payment: string } & Partial<PaymentFacts>)
  | ({ readonly source: SourceName; readonly refund: string; readonly of: string } & Partial<RefundFacts>)
  | ({ readonly source: SourceName; readonly dispute: string; readonly of: string } & Partial<DisputeFacts>);

export const TEN: readonly SeedLine[] = [{ id: 'l1', kind: 'enrolment', amount: 10_000n }];
export const EVERYTHING: readonly SeedLine[] = [
  { id: 'course', kind: 'enrolment', amount: 5_000n },
  { id: 'card', kind: 'gift_card', amount: 3_001n, quantity: 2 },
  { id: 'pack', kind: 'package', amount: 1_000n, quantity: 3 },
  { id: 'book', kind: 'product', amount: 999n },
];

const ISO = '2026-11-30T12:00:00Z';

/** An event of the `standard` protocol about `pay_1~` of `ord_1~`, unless `data` says otherwise. */
export function webhook(id: string, type: string, data: object = {}, ...happened: Happening[]): Webhook {
  const status = type.split('.')[1];
  const body = {
    type,
    timestamp: ISO,
    data: { payment_id: 'pay_1~', order_id: 'ord_1~', status, mode: 'test', ...data },
  };
  return { does: 'webhook', source: 'sim', headers: { 'webhook-id': `${id}~` }, body, happened };
}

/** The payment at `sim` came to this. */
export function became(
  status: PaymentFacts['status'],
  more: Partial<PaymentFacts> & { payment?: string } = {},
): Happening {
  return { source: 'sim', payment: 'pay_1~', status, ...more };
}

/** A refund of it came to this. */
export function refunded(
  refund: string,
  status: RefundFacts['status'],
  more: Partial<RefundFacts> & { of?: string } = {},
): Happening {
  return { source: 'sim', refund: `${refund}~`, of: 'pay_1~', status, ...more };
}

/** Payment and event of one name: `payment.captured` of a payment that is captured by then. */
export function paid(
  id: string,
  status: PaymentFacts['status'],
  more: Partial<PaymentFacts> & { payment?: string; event?: object } = {},
): Webhook {
  const { event, ...facts } = more;
  const data = {
    payment_id: facts.payment ?? 'pay_1~',
    amount: Number(facts.amount ?? 10_000n),
    currency: facts.currency ?? 'EUR',
  };
  return webhook(id, `payment.${status}`, { ...data, ...event }, became(status, facts));
}

/** Likewise for a refund. */
export function gaveBack(
  id: string,
  refund: string,
  status: RefundFacts['status'],
  amount: bigint,
  more: Partial<RefundFacts> & { of?: string; event?: object } = {},
): Webhook {
  const { event, ...facts } = more;
  const data = {
    payment_id: facts.of ?? 'pay_1~',
    refund_id: `${refund}~`,
    amount: Number(amount),
    currency: facts.currency ?? 'EUR',
  };
  return webhook(id, `refund.${status}`, { ...data, ...event }, refunded(refund, status, { amount, ...facts }));
}

/** The same delivery again: nothing new happened. */
export function again(step: Webhook): Webhook {
  return { ...step, happened: [] };
}

export function confirm(caller: string, paymentId = 'pay_1~', source: SourceName = 'sim'): Step {
  return { does: 'confirm', source, paymentId, caller: `confirm:${caller}~` };
}

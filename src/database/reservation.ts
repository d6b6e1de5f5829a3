import { jsonText } from '../domain/json-text.ts';
import {
  checkoutWorkflowId,
  parseAuthorizationMoveId,
  parseCheckoutWorkflowId,
  parseMoneyWorkflowId,
} from '../domain/keys.ts';
import { readCheckout, type Checkout } from './checkout.ts';
import type { StoredAnswer } from './idempotency.ts';
import { MONEY_MOVE_KINDS, type MoneyMoveKind } from './money-move.ts';
import type { Db } from './pool.ts';
import { isPlaced, readMoneyView, type MoneyView } from './read-money-view.ts';

/** What a request under an Idempotency-Key has reserved, as it stands now. */
export interface Reservation {
  /** The outbox row that starts its workflow, as far as starting goes (E4). */
  readonly requested: {
    readonly eventType: string;
    readonly aggregateId: string;
    readonly payload: Readonly<Record<string, unknown>>;
  };
  /** As the API shows it. */
  readonly view: object;
  /** Where the API shows it. */
  readonly location: string;
  /** The gateway has answered: the request is, too. */
  readonly answered: boolean;
  /** The machine is at it, and a moment's waiting may bring more. */
  readonly awaited: boolean;
}

/** What is asked for is on its way; its webhook or its workflow's next look takes seconds. */
const RETRY_AFTER_SECONDS = 2;

const PATHS: Readonly<Record<MoneyMoveKind, (id: string) => string>> = {
  refund: (id) => `/v1/refunds/${encodeURIComponent(id)}`,
  payout: (id) => `/v1/payouts/${encodeURIComponent(id)}`,
  charge: (id) => `/v1/charges/${encodeURIComponent(id)}`,
  top_up: (id) => `/v1/top-ups/${encodeURIComponent(id)}`,
  capture: (id) => `${pathOfPayment(id)}/capture`,
  void: (id) => `${pathOfPayment(id)}/void`,
};
/** A card is charged or declined, and a payment captured or voided, in a moment; a refund and a payout take days. */
const SOON_OVER: readonly MoneyMoveKind[] = ['charge', 'top_up', 'capture', 'void'];

/** Where the API shows a refund, payout, charge, top-up, capture or void. */
export function moneyPath(kind: MoneyMoveKind, id: string): string {
  return PATHS[kind](id);
}

function pathOfPayment(id: string): string {
  const { source = '', paymentId = '' } = parseAuthorizationMoveId(id) ?? {};
  return `/v1/payments/${encodeURIComponent(source)}/${encodeURIComponent(paymentId)}`;
}

/**
 * Reads what was reserved.
 *
 * @param reservation the id of its workflow, as it stands beside the claimed key
 * @returns null where nothing is reserved under this name
 */
export async function readReservation(db: Db, reservation: string): Promise<Reservation | null> {
  const checkout = parseCheckoutWorkflowId(reservation);
  if (checkout !== null) {
    const found = await readCheckout(db, checkout.orderId, checkout.n);
    return found === null ? null : reservedCheckout(found);
  }
  for (const kind of MONEY_MOVE_KINDS) {
    const id = parseMoneyWorkflowId(kind, reservation);
    const found = id === null ? null : await readMoneyView(db, kind, id);
    if (found !== null) return reservedMove(kind, found);
  }
  return null;
}

/** The answer to whoever asked for it, the same from the API and from the job that completes interrupted requests. */
export function reservedAnswer({ view, location, answered }: Reservation): StoredAnswer {
  const headers = { 'content-type': 'application/json', location };
  return answered
    ? { status: 201, headers, body: jsonText(view) }
    : { status: 202, headers: { ...headers, 'retry-after': String(RETRY_AFTER_SECONDS) }, body: jsonText(view) };
}

function reservedMove(kind: MoneyMoveKind, view: MoneyView): Reservation {
  const { id, status } = view;
  const over = status === 'succeeded' || status === 'failed';
  const placed = status === 'pending' && isPlaced(kind, view);
  return {
    requested: { eventType: `${kind}.requested`, aggregateId: id, payload: view },
    ...{ view, location: moneyPath(kind, id) },
    answered: over || placed,
    awaited: status === 'pending' && (!placed || SOON_OVER.includes(kind)),
  };
}

function reservedCheckout(checkout: Checkout): Reservation {
  const { orderId, n, status } = checkout;
  const view = checkoutView(checkout);
  return {
    requested: { eventType: 'checkout.requested', aggregateId: checkoutWorkflowId(orderId, n), payload: view },
    ...{ view, location: `/v1/orders/${encodeURIComponent(orderId)}/checkouts/${n}` },
    answered: status === 'succeeded' || status === 'failed',
    awaited: status === 'pending',
  };
}

/** A checkout as the API shows it. */
export function checkoutView(checkout: Checkout) {
  return {
    order_id: checkout.orderId,
    n: checkout.n,
    source: checkout.source,
    status: checkout.status,
    payment_id: checkout.paymentId ?? undefined,
    checkout_url: checkout.checkoutUrl ?? undefined,
    client_secret: checkout.clientSecret ?? undefined,
    failure_code: checkout.failureCode ?? undefined,
    workflow_id: checkoutWorkflowId(checkout.orderId, checkout.n),
  };
}

import { jsonText } from '../domain/json-text.ts';
import { checkoutWorkflowId, parseCheckoutWorkflowId, parseMoneyWorkflowId } from '../domain/keys.ts';
import { readCheckout, type Checkout } from './checkout.ts';
import type { StoredAnswer } from './idempotency.ts';
import type { MoneyMoveKind } from './money-move.ts';
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

const PATHS: Readonly<Record<MoneyMoveKind, string>> = {
  refund: '/v1/refunds',
  payout: '/v1/payouts',
  charge: '/v1/charges',
  top_up: '/v1/top-ups',
};
const KINDS = Object.keys(PATHS) as MoneyMoveKind[];

/** Where the API shows a refund, payout, charge or top-up. */
export function moneyPath(kind: MoneyMoveKind, id: string): string {
  return `${PATHS[kind]}/${encodeURIComponent(id)}`;
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
  for (const kind of KINDS) {
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
  // A card is charged or declined in a moment; a refund and a payout that the gateway has taken take days.
  const soonOver = kind === 'charge' || kind === 'top_up';
  return {
    requested: { eventType: `${kind}.requested`, aggregateId: id, payload: view },
    ...{ view, location: moneyPath(kind, id) },
    answered: over || placed,
    awaited: status === 'pending' && (!placed || soonOver),
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

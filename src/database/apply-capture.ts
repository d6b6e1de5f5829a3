import type { PoolClient } from 'pg';
import type { CaptureDecision } from '../domain/decide-capture.ts';
import { deadLetterId } from '../domain/keys.ts';
import { CUSTOMER_DEPOSITS, REFUNDS_PAYABLE, UNALLOCATED } from '../domain/ledger.ts';
import { scaledLoyaltyRate } from '../domain/loyalty.ts';
import { PAYABLE_ORDER_STATUSES, REVIVABLE_ORDER_STATUSES } from '../domain/order-states.ts';
import { announce, type Announcement } from './announce.ts';
import { EFFECTS } from './effects/index.ts';
import type { LockedOrder } from './lock-order.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { postCapture } from './post-capture.ts';
import { recordTransition } from './record-transition.ts';
import { stopWhatNothingPaysFor } from './settle-disputed-order.ts';
import { settleEarlierRefunds } from './settle-earlier-refunds.ts';
import { reserveAutomaticRefund } from './reserve-automatic-refund.ts';

export interface CaptureToApply {
  readonly source: string;
  readonly paymentId: string;
  /** As locked, before the capture. */
  readonly order: LockedOrder;
  readonly amount: bigint;
  readonly currency: string;
  /** The event or caller that the outcome goes to. */
  readonly cause: string;
  readonly eventId: string | null;
  readonly pointsPerMajorUnit: number;
  /** The money already stands in the ledger as unallocated: it waited for a human, and now needs none. */
  readonly alreadyPosted: boolean;
  /** What of it has gone back while it waited. */
  readonly alreadyRefunded?: bigint;
  /** A person counts it although the order was cancelled or expired. */
  readonly revive?: boolean;
}

/** Carries out the decision on a capture, inside the money transaction; answers the order as it stands afterwards. */
export async function applyCapture(tx: PoolClient, decision: CaptureDecision, c: CaptureToApply): Promise<LockedOrder> {
  switch (decision.action) {
    case 'count':
      return countCapture(tx, decision.outcome, c);
    case 'refund':
      await postCapture(tx, c, REFUNDS_PAYABLE);
      await reserveAutomaticRefund(tx, { ...c, kind: decision.kind, orderId: c.order.id, captured: c.amount });
      return c.order;
    case 'hold':
      await postCapture(tx, c, UNALLOCATED);
      await openDeadLetter(tx, {
        id: deadLetterId(decision.kind, c.source, c.paymentId),
        kind: decision.kind,
        source: c.source,
        eventId: c.eventId,
        orderId: c.order.id,
        paymentId: c.paymentId,
        amount: c.amount,
        currency: c.currency,
        lastError: whyHeld(decision.kind, c),
      });
      return c.order;
    case 'wait_for_order':
    case 'nothing':
      return c.order;
  }
}

function whyHeld(
  kind: 'wrong_currency' | 'late_capture' | 'order_not_payable',
  { currency, order, source }: CaptureToApply,
): string {
  switch (kind) {
    case 'wrong_currency':
      return `The payment was captured in ${currency}, but the order is due in ${order.currency}.`;
    case 'late_capture':
      return `The payment was captured after the order was ${order.status}.`;
    case 'order_not_payable':
      return `${source} and the account that the order is paid at are of different modes, one live and one test: nothing was counted. See why it names this order, and give it back or give up.`;
  }
}

/** Marks the order paid, or partly, by one conditional update (B2), and lets every consequence follow (C2). */
async function countCapture(
  tx: PoolClient,
  outcome: 'marked_paid' | 'partially_paid',
  c: CaptureToApply,
): Promise<LockedOrder> {
  const { rows } = await tx.query<{ status: LockedOrder['status']; amount_paid: bigint }>(
    `update orders set
       amount_paid = amount_paid + $2::bigint,
       status = case when amount_paid + $2::bigint >= amount_due then 'paid' else 'partially_paid' end,
       paid_source = case when amount_paid + $2::bigint >= amount_due then $3 end,
       paid_payment_id = case when amount_paid + $2::bigint >= amount_due then $4 end,
       paid_at = case when amount_paid + $2::bigint >= amount_due then now() end,
       -- what is earned now is judged by this rate for good, whatever the policy becomes
       loyalty_rate = case when amount_paid + $2::bigint >= amount_due then $6::bigint end,
       updated_at = now()
     where id = $1 and status = any($5)
     returning status, amount_paid`,
    [
      c.order.id,
      c.amount,
      c.source,
      c.paymentId,
      c.revive === true ? REVIVABLE_ORDER_STATUSES : PAYABLE_ORDER_STATUSES,
      scaledLoyaltyRate(c.pointsPerMajorUnit),
    ],
  );
  const updated = rows[0];
  if (updated === undefined) throw new Error(`Order ${c.order.id} changed under its own lock.`);
  await tx.query(
    `insert into order_payments (source, payment_id, order_id, amount, counted_by, outcome) values ($1, $2, $3, $4, $5, $6)`,
    [c.source, c.paymentId, c.order.id, c.amount, c.cause, outcome],
  );
  await recordTransition(tx, {
    machine: 'order',
    objectId: c.order.id,
    from: c.order.status,
    to: updated.status,
    cause: c.cause,
    detail: outcome,
    orderId: c.order.id,
    source: c.source,
    paymentId: c.paymentId,
  });
  const paid = updated.status === 'paid';
  await postCapture(tx, c, CUSTOMER_DEPOSITS, paid ? c.order.amountDue : 0n);
  const order: LockedOrder = {
    ...c.order,
    status: updated.status,
    amountPaid: updated.amount_paid,
    paidSource: paid ? c.source : null,
    paidPaymentId: paid ? c.paymentId : null,
    loyaltyRate: paid ? c.pointsPerMajorUnit : null,
  };
  if (!paid) return order;
  for (const effect of EFFECTS) await effect.apply(tx, order, c);
  if (order.amountRefunded > 0n) await settleEarlierRefunds(tx, order, c.pointsPerMajorUnit);
  await stopWhatNothingPaysFor(tx, order, c.pointsPerMajorUnit);
  await announce(tx, order.id, paidAnnouncements(order, c));
  return order;
}

function paidAnnouncements(order: LockedOrder, c: CaptureToApply): Announcement[] {
  const ids = { order_id: order.id, source: c.source, payment_id: c.paymentId };
  const paid = { ...ids, amount: order.amountPaid.toString(), currency: order.currency };
  return [
    { eventType: 'order.paid', payload: paid },
    ...order.lines
      .filter((line) => line.kind === 'product')
      .map((line) => ({
        eventType: 'fulfilment.requested',
        payload: { ...ids, line_id: line.id, quantity: line.quantity, reference: line.reference },
      })),
  ];
}

import type { PoolClient } from 'pg';
import {
  deadLetterId,
  paymentWorkflowId,
  refundedPostingKey,
  refundReturnedPostingKey,
  refundWorkflowId,
} from '../domain/keys.ts';
import {
  CUSTOMER_DEPOSITS,
  gatewayAccount,
  REFUNDS_PAYABLE,
  SALES_REFUNDS,
  splitRefund,
  UNALLOCATED,
  type Transfer,
} from '../domain/ledger.ts';
import { moneyKept } from '../domain/money-kept.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { announce } from './announce.ts';
import type { RefundedPayment, RefundRow } from './apply-refunds.ts';
import { EFFECTS } from './effects/index.ts';
import type { LockedOrder } from './lock-order.ts';
import { openDeadLetter, recoverDeadLetters } from './open-dead-letter.ts';
import { postToLedger } from './post-to-ledger.ts';
import { takeFromWallet } from './take-from-wallet.ts';

export interface RefundToSettle {
  readonly payment: RefundedPayment;
  /** As it stands; its row is held. Null where no order is known. */
  readonly order: LockedOrder | null;
  /** As it stands after its transition. */
  readonly row: RefundRow;
  readonly from: RefundStatus | null;
  readonly failureCode: string | null;
  /** A person has just said so: nobody needs to be asked again. */
  readonly quiet?: boolean;
  /** Its failure was announced when the gateway refused it: it is told once. */
  readonly failureAnnounced?: boolean;
}

/**
 * What follows from a refund's new status: amounts, books, consequences, announcements. Money moves when it has
 * `succeeded`, and back when a succeeded one has `failed` (the bank returned it).
 *
 * @returns the order as it stands afterwards
 */
export async function settleRefund(tx: PoolClient, r: RefundToSettle): Promise<LockedOrder | null> {
  const returned = r.from === 'succeeded' && r.row.status === 'failed';
  if (r.row.status === 'succeeded') {
    await recoverDeadLetters(tx, refundDeadLetterIds(r.row.id));
    const order = await moveMoney(tx, r, 'succeeded');
    await announceRefund(tx, r, 'refund.succeeded');
    return order;
  }
  if (r.row.status !== 'failed') return r.order;
  const order = returned ? await moveMoney(tx, r, 'returned') : r.order;
  if (r.failureAnnounced !== true) await announceRefund(tx, r, 'refund.failed');
  // One that the machine or a person began was meant to happen: its failure is nobody's to forget. Nor is that of somebody else's
  // refund of a payment that is to go back: what the machine gives back was made smaller for it.
  const owed = r.row.kind !== 'gateway' || returned || r.payment.allocation === 'owed_back';
  if (r.quiet !== true && owed) {
    await openDeadLetter(tx, {
      id: deadLetterId('refund_failed', r.row.id),
      kind: 'refund_failed',
      source: r.payment.source,
      orderId: r.row.orderId,
      paymentId: r.payment.paymentId,
      refundId: r.row.id,
      amount: r.row.amount,
      currency: r.row.currency,
      lastError: returned
        ? REFUND_RETURNED
        : `The gateway could not carry out the refund${r.failureCode === null ? '' : `: ${r.failureCode}`}.`,
      workflowId: refundWorkflowId(r.row.id),
      extraCapture: r.row.kind === 'extra_capture',
    });
  }
  return order;
}

export const REFUND_RETURNED = 'The refund had succeeded, and then the bank sent the money back.';

/** The rows that a refund's success closes. */
function refundDeadLetterIds(refundId: string): string[] {
  return [deadLetterId('outcome_unknown', refundId), deadLetterId('refund_failed', refundId)];
}

async function moveMoney(
  tx: PoolClient,
  r: RefundToSettle,
  change: 'succeeded' | 'returned',
): Promise<LockedOrder | null> {
  const { payment, row } = r;
  const signed = change === 'succeeded' ? row.amount : -row.amount;
  await tx.query(
    `update payments set amount_refunded = amount_refunded + $3, updated_at = now() where source = $1 and payment_id = $2`,
    [payment.source, payment.paymentId, signed],
  );
  const counted = payment.allocation === 'counted' ? r.order : null;
  const before = counted?.amountRefunded ?? 0n;
  const lower = change === 'succeeded' ? before : before - row.amount;
  const paidInFull = counted !== null && counted.paidPaymentId !== null;
  const surplus = paidInFull ? counted.amountPaid - counted.amountDue : row.amount;
  const split = splitRefund(surplus, paidInFull ? lower : 0n, row.amount);
  await postToLedger(
    tx,
    {
      key:
        change === 'succeeded'
          ? refundedPostingKey(row.id, row.supersededGatewayIds.length)
          : refundReturnedPostingKey(row.id, row.supersededGatewayIds.length),
      currency: row.currency,
      transfers:
        payment.allocation === 'wallet'
          ? await takeFromWallet(tx, payment, row, change)
          : transfers(payment, split, change),
    },
    { orderId: row.orderId, source: payment.source, paymentId: payment.paymentId, refundId: row.id },
  );
  if (counted === null) return r.order;
  const order = { ...counted, amountRefunded: before + signed };
  await tx.query('update orders set amount_refunded = $2, updated_at = now() where id = $1', [
    order.id,
    order.amountRefunded,
  ]);
  // Of an imported order nothing stands here that could be taken back but its money.
  if (!paidInFull || order.imported) return order;
  const refund = {
    takenBy: row.id,
    change,
    saleAmount: split.sale,
    full: moneyKept(order) === 0n,
    pointsPerMajorUnit: payment.pointsPerMajorUnit,
  };
  for (const effect of EFFECTS) await effect.reverse(tx, order, refund);
  return order;
}

function transfers(
  payment: RefundedPayment,
  split: { surplus: bigint; sale: bigint },
  change: 'succeeded' | 'returned',
): Transfer[] {
  const gateway = gatewayAccount(payment.source);
  const whole = split.surplus + split.sale;
  const out: Transfer[] =
    payment.allocation === 'counted'
      ? [
          { debit: CUSTOMER_DEPOSITS, credit: gateway, amount: split.surplus },
          { debit: SALES_REFUNDS, credit: gateway, amount: split.sale },
        ]
      : [{ debit: payment.allocation === 'owed_back' ? REFUNDS_PAYABLE : UNALLOCATED, credit: gateway, amount: whole }];
  return change === 'succeeded'
    ? out
    : out.map(({ debit, credit, amount }) => ({ debit: credit, credit: debit, amount }));
}

async function announceRefund(tx: PoolClient, r: RefundToSettle, eventType: string): Promise<void> {
  await announce(tx, r.row.orderId, [
    {
      eventType,
      ...(r.row.orderId === null ? { aggregateId: paymentWorkflowId(r.payment.source, r.payment.paymentId) } : {}),
      payload: {
        order_id: r.row.orderId,
        source: r.payment.source,
        payment_id: r.payment.paymentId,
        refund_id: r.row.id,
        amount: r.row.amount.toString(),
        currency: r.row.currency,
      },
    },
  ]);
}

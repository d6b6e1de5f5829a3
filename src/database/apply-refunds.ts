import type { PoolClient } from 'pg';
import type { RefundFacts } from '../domain/gateway-facts.ts';
import { deadLetterId, gatewayRefundId, importedRefundId, refundedPostingKey } from '../domain/keys.ts';
import { formatMoney } from '../domain/money.ts';
import type { AutomaticRefundKind } from '../domain/keys.ts';
import { refundMayBecome, type RefundStatus } from '../domain/refund-states.ts';
import { forgetRefundsBeforeImport } from './forget-refunds-before-import.ts';
import type { LockedOrder } from './lock-order.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { recordTransition } from './record-transition.ts';
import { reconcileReservations } from './reconcile-reservations.ts';
import { settleRefund } from './settle-refund.ts';

/** The captured payment whose refunds are looked at; its row and its order's are held by this transaction. */
export interface RefundedPayment {
  readonly source: string;
  readonly paymentId: string;
  readonly captured: bigint;
  readonly currency: string;
  /** Where the captured money stands in the books. */
  readonly allocation: 'counted' | 'owed_back' | 'unallocated' | 'wallet';
  readonly cause: string;
  readonly pointsPerMajorUnit: number;
}

export interface RefundRow {
  readonly id: string;
  readonly kind: 'requested' | AutomaticRefundKind | 'gateway';
  readonly status: RefundStatus;
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string | null;
  readonly gatewayRefundId: string | null;
  /** The gateway's objects of attempts before the one that a person ordered (F3). */
  readonly supersededGatewayIds: readonly string[];
  readonly orderId: string | null;
}

/** A `RefundRow` as SQL. */
export const REFUND_COLUMNS = `id, kind, status, amount, currency, reference, gateway_refund_id as "gatewayRefundId",
  superseded_gateway_ids as "supersededGatewayIds", order_id as "orderId"`;

export interface AppliedRefunds {
  /** As it stands afterwards. */
  readonly order: LockedOrder | null;
  /** The refunds whose status changed. */
  readonly changed: readonly string[];
}

/**
 * Records what a gateway says about the refunds of one payment: matched by the gateway's refund id, then by our
 * reference, never by recency; one that nobody here began is recorded as such (E6). Statuses only follow named
 * transitions, so that an older look changes nothing.
 */
export async function applyRefunds(
  tx: PoolClient,
  payment: RefundedPayment,
  order: LockedOrder | null,
  facts: readonly RefundFacts[],
): Promise<AppliedRefunds> {
  const locked = await lockRefunds(tx, payment.source, payment.paymentId);
  const rows = await forgetRefundsBeforeImport(tx, payment, locked, facts);
  const changed: string[] = [];
  let current = order;
  // Money went out that no reservation of ours stood for.
  let unforeseen = false;
  // The gateway's order of listing is its own; ours must not depend on it.
  for (const fact of [...facts].sort((a, b) => (a.refundId < b.refundId ? -1 : 1))) {
    if (fact.currency !== payment.currency) {
      await askAboutOtherCurrency(tx, payment, fact);
      continue;
    }
    let row = rows.find((r) => r.gatewayRefundId === fact.refundId);
    if (row === undefined) {
      const replaced = rows.find((r) => r.supersededGatewayIds.includes(fact.refundId));
      // The outcome of an attempt before the one that a person ordered, unless it came about after all.
      if (
        replaced !== undefined &&
        (fact.status !== 'succeeded' || (await hadSucceeded(tx, payment.source, replaced, fact)))
      )
        continue;
      row =
        replaced === undefined
          ? rows.find((r) => r.gatewayRefundId === null && r.reference !== null && r.reference === fact.reference)
          : undefined;
    }
    const from = row?.status ?? null;
    if (row === undefined) {
      row = await insertGatewayRefund(tx, payment, order, fact);
      unforeseen = true;
    } else if (row.status === 'failed' && fact.status === 'succeeded') {
      // Sent back by the bank: whoever shows it as done is behind.
      if (await hadSucceeded(tx, payment.source, row, fact)) continue;
      row = await updateRefund(tx, row, fact);
      unforeseen = true;
    } else if (refundMayBecome(row.status, fact.status) || row.gatewayRefundId === null) {
      row = await updateRefund(tx, row, fact);
    } else {
      continue;
    }
    if (from === row.status) continue;
    changed.push(row.id);
    await recordTransition(tx, {
      machine: 'refund',
      objectId: row.id,
      from,
      to: row.status,
      cause: payment.cause,
      orderId: row.orderId,
      source: payment.source,
      paymentId: payment.paymentId,
    });
    current = await settleRefund(tx, { payment, order: current, row, from, failureCode: fact.failureCode });
  }
  if (unforeseen) changed.push(...(await reconcileReservations(tx, payment)));
  return { order: current, changed };
}

/** Books are kept by currency, and a refund in another one would take what it does not give back. Asked once: a decision stands. */
async function askAboutOtherCurrency(tx: PoolClient, payment: RefundedPayment, fact: RefundFacts): Promise<void> {
  const id = deadLetterId('event_unreadable', payment.source, payment.paymentId, fact.refundId);
  const { rowCount } = await tx.query('select 1 from dead_letters where id = $1', [id]);
  if (rowCount !== 0) return;
  await openDeadLetter(tx, {
    ...{ id, kind: 'event_unreadable', source: payment.source, paymentId: payment.paymentId },
    lastError: `The gateway shows the refund ${fact.refundId} of ${formatMoney(fact)} for a payment in ${payment.currency}: it was not booked. Look there, and give this up when it is settled.`,
  });
}

/** Whether this object of the gateway's, of the refund's present attempt or one before, was booked as succeeded already. */
async function hadSucceeded(tx: PoolClient, source: string, row: RefundRow, fact: RefundFacts): Promise<boolean> {
  // What went back before a payment was imported is in the row that stands for it.
  if (row.id === importedRefundId(source, fact.paymentId)) return true;
  const before = row.supersededGatewayIds.indexOf(fact.refundId);
  const attempt = before === -1 ? row.supersededGatewayIds.length : before;
  const { rowCount } = await tx.query('select 1 from ledger_entries where source_event_id = $1 limit 1', [
    refundedPostingKey(row.id, attempt),
  ]);
  return rowCount === 1;
}

async function lockRefunds(tx: PoolClient, source: string, paymentId: string): Promise<RefundRow[]> {
  const { rows } = await tx.query<RefundRow>(
    `select ${REFUND_COLUMNS}
     from refunds where source = $1 and payment_id = $2 order by id for update`,
    [source, paymentId],
  );
  return rows;
}

async function insertGatewayRefund(
  tx: PoolClient,
  payment: RefundedPayment,
  order: LockedOrder | null,
  fact: RefundFacts,
): Promise<RefundRow> {
  const id = gatewayRefundId(payment.source, fact.refundId);
  const row: RefundRow = {
    id,
    kind: 'gateway',
    status: fact.status,
    amount: fact.amount,
    currency: fact.currency,
    reference: null,
    gatewayRefundId: fact.refundId,
    supersededGatewayIds: [],
    orderId: order?.id ?? null,
  };
  await tx.query(
    `insert into refunds (id, source, payment_id, order_id, kind, status, amount, currency, gateway_refund_id, failure_code)
     values ($1, $2, $3, $4, 'gateway', $5, $6, $7, $8, $9)`,
    [
      id,
      payment.source,
      payment.paymentId,
      row.orderId,
      row.status,
      row.amount,
      row.currency,
      fact.refundId,
      fact.failureCode,
    ],
  );
  return row;
}

async function updateRefund(tx: PoolClient, row: RefundRow, fact: RefundFacts): Promise<RefundRow> {
  const status = refundMayBecome(row.status, fact.status) ? fact.status : row.status;
  await tx.query(
    `update refunds set status = $2, gateway_refund_id = $3, amount = $4, failure_code = coalesce($5, failure_code),
            last_error = null, updated_at = now()
     where id = $1`,
    [row.id, status, fact.refundId, fact.amount, fact.failureCode],
  );
  return { ...row, status, amount: fact.amount, gatewayRefundId: fact.refundId };
}

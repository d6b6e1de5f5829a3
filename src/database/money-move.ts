import {
  authorizationMoveWorkflowId,
  chargeWorkflowId,
  payoutWorkflowId,
  refundWorkflowId,
  topUpWorkflowId,
} from '../domain/keys.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import type { Db, Tx } from './pool.ts';

/** The kinds of business that move money, or let it go, by our own call; all go through the same states. */
export type MoneyMoveKind = 'refund' | 'payout' | 'charge' | 'top_up' | 'capture' | 'void';

export type MoneyStatus = RefundStatus;

/** What all of them have in common. */
export interface MoneyMove {
  readonly kind: MoneyMoveKind;
  readonly id: string;
  readonly source: string;
  readonly status: MoneyStatus;
  readonly amount: bigint;
  readonly currency: string;
  /** Ours at the gateway; null for a refund that somebody began there. */
  readonly reference: string | null;
  /** The gateway's object; where it is a payment (a charge, a top-up, a capture, a void) that payment. */
  readonly gatewayId: string | null;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly failureCode: string | null;
  readonly lastError: string | null;
  /** A person decided that the machine shall stop; the money stays in doubt, and reserved. */
  readonly givenUp: boolean;
}

/** The payment is there before: that the gateway has the call is a fact of its own. */
const PLACED_PAYMENT = 'case when placed_at is not null then payment_id end';

/** Where each kind is kept, and what it is called. */
const KINDS = {
  refund: {
    table: 'refunds',
    gatewayId: 'gateway_refund_id',
    orderId: 'order_id',
    paymentId: 'payment_id',
    workflowId: refundWorkflowId,
  },
  payout: {
    table: 'payouts',
    gatewayId: 'gateway_payout_id',
    orderId: 'null',
    paymentId: 'null',
    workflowId: payoutWorkflowId,
  },
  charge: {
    table: 'charges',
    gatewayId: 'payment_id',
    orderId: 'order_id',
    paymentId: 'payment_id',
    workflowId: chargeWorkflowId,
  },
  top_up: {
    table: 'top_ups',
    gatewayId: 'payment_id',
    orderId: 'null',
    paymentId: 'payment_id',
    workflowId: topUpWorkflowId,
  },
  capture: {
    table: 'captures',
    gatewayId: PLACED_PAYMENT,
    orderId: 'order_id',
    paymentId: 'payment_id',
    workflowId: (id: string) => authorizationMoveWorkflowId('capture', id),
  },
  void: {
    table: 'voids',
    gatewayId: PLACED_PAYMENT,
    orderId: 'order_id',
    paymentId: 'payment_id',
    workflowId: (id: string) => authorizationMoveWorkflowId('void', id),
  },
} as const;

export const MONEY_MOVE_KINDS = Object.keys(KINDS) as readonly MoneyMoveKind[];

export function moneyTable(kind: MoneyMoveKind): string {
  return KINDS[kind].table;
}

export function moneyWorkflowId(kind: MoneyMoveKind, id: string): string {
  return KINDS[kind].workflowId(id);
}

export async function readMoneyMove(db: Db, kind: MoneyMoveKind, id: string): Promise<MoneyMove | null> {
  const { table, gatewayId, orderId, paymentId } = KINDS[kind];
  const { rows } = await db.query<Omit<MoneyMove, 'kind'>>(
    `select id, source, status, amount, currency, reference, ${gatewayId} as "gatewayId", ${orderId}::text as "orderId",
            ${paymentId}::text as "paymentId", failure_code as "failureCode", last_error as "lastError",
            exists (select from dead_letters d where d.workflow_id = $2 and d.status = 'decided'
                    and d.decision->>'action' = 'give_up') as "givenUp"
     from ${table} where id = $1`,
    [id, moneyWorkflowId(kind, id)],
  );
  return rows[0] === undefined ? null : { kind, ...rows[0] };
}

/** The same with its row locked: what it says stays true until the transaction's end. */
export async function lockMoneyMove(tx: Tx, kind: MoneyMoveKind, id: string): Promise<MoneyMove | null> {
  await tx.query(`select from ${moneyTable(kind)} where id = $1 for update`, [id]);
  return readMoneyMove(tx, kind, id);
}

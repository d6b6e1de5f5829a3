import { moneyWorkflowId, type MoneyMoveKind, type MoneyStatus } from './money-move.ts';
import type { Db } from './pool.ts';

/** A refund, payout, charge, top-up, capture or void as the API shows it; its schemas name the fields of each kind. */
export interface MoneyView {
  readonly id: string;
  readonly status: MoneyStatus;
  readonly source: string;
  readonly [field: string]: unknown;
}

const endOfPayment = (kind: 'capture' | 'void') => `
    select id, status, amount, currency, source, payment_id, order_id,
           case when placed_at is not null then payment_id end as gateway_${kind}_id, failure_code, created_at, reference
    from ${kind}s where id = $1`;

// The order of the columns is the order of the members in every answer, whoever writes it.
const SELECT: Readonly<Record<MoneyMoveKind, string>> = {
  refund: `
    select id, status, amount, currency, source, payment_id, order_id, kind, reason, gateway_refund_id, failure_code,
           created_at, reference from refunds where id = $1`,
  payout: `
    select id, status, amount, currency, source, mode, seller_id, to_char(settlement_date, 'YYYY-MM-DD') as settlement_date,
           destination, gateway_payout_id, failure_code, created_at, reference from payouts where id = $1`,
  charge: `
    select id, status, amount, currency, source, order_id, customer_id, payment_method, payment_id,
           payment_id as gateway_charge_id, failure_code, created_at, reference from charges where id = $1`,
  // The balance is that of the same moment as the status.
  top_up: `
    select t.id, t.status, w.balance, t.amount, t.currency, t.source, t.wallet_id, t.customer_id, t.payment_method,
           t.payment_id, t.payment_id as gateway_top_up_id, t.failure_code, t.created_at, t.reference
    from top_ups t join wallets w on w.id = t.wallet_id where t.id = $1`,
  capture: endOfPayment('capture'),
  void: endOfPayment('void'),
};

/** As PostgreSQL has it now; null where there is none of this id. */
export async function readMoneyView(db: Db, kind: MoneyMoveKind, id: string): Promise<MoneyView | null> {
  const { rows } = await db.query<MoneyView & { readonly reference: string | null }>(SELECT[kind], [id]);
  if (rows[0] === undefined) return null;
  const { reference, ...view } = rows[0];
  // A refund that somebody began at the gateway has no workflow of its own.
  return { ...view, workflow_id: reference === null ? null : moneyWorkflowId(kind, id) };
}

/** Whether the gateway has taken it: then only its final word may be missing. */
export function isPlaced(kind: MoneyMoveKind, view: MoneyView): boolean {
  return view[`gateway_${kind}_id`] !== null;
}

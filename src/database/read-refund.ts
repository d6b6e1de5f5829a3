import type { RefundStatus } from '../domain/refund-states.ts';
import type { Db } from './pool.ts';

/** A refund as reserved and as far as it has come. */
export interface Refund {
  readonly id: string;
  readonly source: string;
  readonly paymentId: string;
  readonly orderId: string | null;
  readonly kind: 'requested' | 'extra_capture' | 'late_capture' | 'gateway';
  readonly status: RefundStatus;
  readonly amount: bigint;
  readonly currency: string;
  /** Null for one that somebody began at the gateway. */
  readonly reference: string | null;
  readonly gatewayRefundId: string | null;
  readonly supersededGatewayIds: readonly string[];
  readonly lastError: string | null;
  /** What was captured of its payment, as far as that is known. */
  readonly captured: bigint | null;
}

export async function readRefund(db: Db, refundId: string): Promise<Refund | null> {
  const { rows } = await db.query<Refund>(
    `select id, source, payment_id as "paymentId", order_id as "orderId", kind, status, amount, currency, reference,
            gateway_refund_id as "gatewayRefundId", superseded_gateway_ids as "supersededGatewayIds", last_error as "lastError",
            (select p.amount from payments p where p.source = r.source and p.payment_id = r.payment_id) as captured
     from refunds r where id = $1`,
    [refundId],
  );
  return rows[0] ?? null;
}

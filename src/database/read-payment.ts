import type { DisputeStatus } from '../domain/event-reading.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import type { Db } from './pool.ts';

/** A payment as the API shows it; field names are those of the contract. Amounts are minor units of `currency`. */
export interface PaymentView {
  readonly source: string;
  readonly payment_id: string;
  readonly order_id: string | null;
  readonly status: PaymentStatus;
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly amount_refunded: bigint;
  /** Whether it counts for its order. */
  readonly counted: boolean;
  readonly outcome: PaymentOutcome | null;
  readonly refunds: readonly {
    readonly id: string;
    readonly amount: bigint;
    readonly currency: string;
    readonly status: RefundStatus;
    readonly kind: 'requested' | 'extra_capture' | 'late_capture' | 'gateway';
    readonly gateway_refund_id: string | null;
    readonly failure_code: string | null;
  }[];
  /** What its customer contested. */
  readonly disputes: readonly {
    readonly dispute_id: string;
    readonly status: DisputeStatus;
    readonly amount: bigint;
    readonly currency: string;
    readonly withheld: boolean;
    readonly fee: bigint;
    readonly fee_currency: string;
    readonly opened_at: string | null;
    readonly closed_at: string | null;
  }[];
}

interface PaymentRow extends Omit<PaymentView, 'refunds' | 'disputes' | 'status'> {
  status: PaymentStatus | null;
  refunds: (Omit<PaymentView['refunds'][number], 'amount'> & { amount: string })[];
  disputes: (Omit<PaymentView['disputes'][number], 'amount' | 'fee' | 'opened_at' | 'closed_at'> & {
    amount: string;
    fee: string;
    opened_at: string | null;
    closed_at: string | null;
  })[];
}

/** The payment; one that only events speak of so far is `pending`. Null where nobody ever spoke of it. */
export async function readPayment(db: Db, source: string, paymentId: string): Promise<PaymentView | null> {
  const { rows } = await db.query<PaymentRow>(
    `select k.source, k.payment_id, coalesce(p.order_id, k.order_id) as order_id, p.status, p.amount, p.currency,
            coalesce(p.amount_refunded, 0) as amount_refunded,
            exists (select 1 from order_payments c where c.source = $1 and c.payment_id = $2) as counted, p.outcome,
            (select coalesce(json_agg(json_build_object('id', r.id, 'amount', r.amount::text, 'currency', r.currency,
                      'status', r.status, 'kind', r.kind, 'gateway_refund_id', r.gateway_refund_id,
                      'failure_code', r.failure_code) order by r.created_at, r.id), '[]')
             from refunds r where r.source = $1 and r.payment_id = $2) as refunds,
            (select coalesce(json_agg(json_build_object('dispute_id', d.dispute_id, 'status', d.status,
                      'amount', d.amount::text, 'currency', d.currency, 'withheld', d.withheld and d.status = 'opened',
                      'fee', d.fee::text, 'fee_currency', d.fee_currency,
                      'opened_at', d.opened_at, 'closed_at', d.closed_at) order by d.created_at, d.dispute_id), '[]')
             from disputes d where d.source = $1 and d.payment_id = $2) as disputes
     from (select $1 as source, $2 as payment_id,
                  (select min(order_id) from webhook_events where source = $1 and payment_id = $2) as order_id) as k
     left join payments p using (source, payment_id)
     where p.payment_id is not null or exists (select 1 from webhook_events where source = $1 and payment_id = $2)`,
    [source, paymentId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    ...row,
    status: row.status ?? 'pending',
    refunds: row.refunds.map((refund) => ({ ...refund, amount: BigInt(refund.amount) })),
    disputes: row.disputes.map((dispute) => ({
      ...dispute,
      ...{ amount: BigInt(dispute.amount), fee: BigInt(dispute.fee) },
      ...{ opened_at: isoTime(dispute.opened_at), closed_at: isoTime(dispute.closed_at) },
    })),
  };
}

function isoTime(time: string | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

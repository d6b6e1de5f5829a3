import type { Refund } from '../database/read-refund.ts';
import type { RefundStatus } from '../domain/refund-states.ts';

/** A refund as its workflow sees it: no bigint, no personal data. */
export interface RefundProgress {
  readonly status: RefundStatus;
  /** The gateway has it: only its word is missing. */
  readonly placed: boolean;
  readonly amount: string;
  readonly currency: string;
  readonly gatewayRefundId: string | null;
  readonly orderId: string | null;
  readonly lastError: string | null;
}

export function refundProgress(refund: Refund): RefundProgress {
  const { status, currency, gatewayRefundId, orderId, lastError } = refund;
  return {
    status,
    placed: gatewayRefundId !== null,
    amount: refund.amount.toString(),
    currency,
    gatewayRefundId,
    orderId,
    lastError,
  };
}

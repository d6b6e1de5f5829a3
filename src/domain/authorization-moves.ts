import { PAYABLE_ORDER_STATUSES, type OrderStatus } from './order-states.ts';
import type { PaymentStatus } from './payment-states.ts';
import type { RefundStatus } from './refund-states.ts';

/** How a merchant ends an authorised payment: by taking the money, or by letting it go. */
export const AUTHORIZATION_MOVE_KINDS = ['capture', 'void'] as const;
export type AuthorizationMoveKind = (typeof AUTHORIZATION_MOVE_KINDS)[number];

/** What is known, under lock, when somebody asks for a capture or a void. */
export interface AuthorizationMoveToWeigh {
  readonly kind: AuthorizationMoveKind;
  readonly paymentStatus: PaymentStatus;
  /** Null: no such order yet, or the payment names none. */
  readonly orderStatus: OrderStatus | null;
  /** Of the one move of this kind that the payment can have; null where it has none. */
  readonly same: RefundStatus | null;
  /** Likewise of the other kind. */
  readonly opposite: RefundStatus | null;
  /** Minor units; null: all that is authorised. */
  readonly amount: bigint | null;
  readonly authorized: bigint;
  /** Whether its order, if it has one, is in the payment's currency. */
  readonly inOrdersCurrency: boolean;
}

export type AuthorizationMoveRefusal =
  'exists' | 'opposite_exists' | 'not_authorized' | 'order_not_payable' | 'other_currency' | 'exceeds_authorized';

/**
 * Why an authorised payment may not be captured or voided; null where it may. A payment has one move of each kind at most,
 * and one of both that stands: only where the first has failed may the other one follow.
 */
export function refuseAuthorizationMove(asked: AuthorizationMoveToWeigh): AuthorizationMoveRefusal | null {
  const { kind, paymentStatus, orderStatus, same, opposite, amount, authorized } = asked;
  if (same !== null) return 'exists';
  if (opposite !== null && opposite !== 'failed') return 'opposite_exists';
  if (paymentStatus !== 'authorized') return 'not_authorized';
  if (kind === 'void') return null;
  // Taken all the same, the money would have to go back at once (D1, B6), or wait for a person (B5).
  if (orderStatus !== null && !PAYABLE_ORDER_STATUSES.includes(orderStatus)) return 'order_not_payable';
  if (!asked.inOrdersCurrency) return 'other_currency';
  return amount !== null && amount > authorized ? 'exceeds_authorized' : null;
}

/** What an end of the payment makes of a move of this kind; null while the payment has not ended. */
export function authorizationMoveEnd(
  kind: AuthorizationMoveKind,
  payment: PaymentStatus,
): { readonly status: 'succeeded' | 'failed'; readonly failureCode: string | null } | null {
  switch (payment) {
    case 'captured':
      return kind === 'capture'
        ? { status: 'succeeded', failureCode: null }
        : { status: 'failed', failureCode: 'already_captured' };
    case 'failed':
    case 'expired':
      return kind === 'void'
        ? { status: 'succeeded', failureCode: null }
        : { status: 'failed', failureCode: `payment_${payment}` };
    default:
      return null;
  }
}

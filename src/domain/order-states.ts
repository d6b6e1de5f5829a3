import { isOpenPayment, type PaymentStatus } from './payment-states.ts';

/** The states of an order. Refunds and disputes are amounts and flags beside it, never a status that hides "paid". */
export const ORDER_STATUSES = [
  'pending_payment',
  'payment_pending',
  'partially_paid',
  'paid',
  'failed_final',
  'cancelled',
  'expired',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** A capture counts for the order only from these (B2). */
export const PAYABLE_ORDER_STATUSES: readonly OrderStatus[] = [
  'pending_payment',
  'payment_pending',
  'partially_paid',
  'failed_final',
];

/** A person may count a late capture from these as well (B6). */
export const REVIVABLE_ORDER_STATUSES: readonly OrderStatus[] = [...PAYABLE_ORDER_STATUSES, 'cancelled', 'expired'];

/** An order can be cancelled, and expires, from these (B6): the same ones, since money that is due can also be given up. */
export const CANCELLABLE_ORDER_STATUSES: readonly OrderStatus[] = [...PAYABLE_ORDER_STATUSES];

/**
 * The status of an order that no capture counts for yet, from the payments known for it: a payment under way makes it
 * `payment_pending`; when all have failed or expired and none is open it is `failed_final`.
 */
export function unpaidOrderStatus(payments: readonly PaymentStatus[]): OrderStatus {
  if (payments.some(isOpenPayment)) return 'payment_pending';
  const over = payments.filter((status) => status === 'failed' || status === 'expired');
  return over.length > 0 && over.length === payments.length ? 'failed_final' : 'pending_payment';
}

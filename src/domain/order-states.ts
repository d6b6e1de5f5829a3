import { isOpenPayment, type PaymentStatus } from './payment-states.ts';
import type { StateMachine } from './state-machine.ts';

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

export const ORDER_MACHINE: StateMachine<OrderStatus> = {
  name: 'order',
  about:
    'What a customer owes. Refunds and disputes are amounts and flags beside its status, and never hide that it is paid.',
  states: {
    pending_payment: 'Nothing is known of a payment yet, or what was captured waits for a person.',
    payment_pending: 'A payment for it is under way.',
    partially_paid: 'Captures count for it, and their sum does not reach what is due yet.',
    paid: 'The captures that count reach what is due; every consequence was written with this step.',
    failed_final: 'All its payments failed or expired, and none is open; another one may still pay it.',
    cancelled: 'The merchant gave it up; what had counted goes back, or is before a person.',
    expired: 'Its time was over before it was paid; what had counted goes back, or is before a person.',
  },
  // Paid: one that was imported, which was paid before this system ran.
  begins: ['pending_payment', 'payment_pending', 'failed_final', 'paid'],
  finals: ['paid', 'cancelled', 'expired'],
  skips: false,
  transitions: [
    {
      name: 'await_payment',
      from: ['pending_payment', 'failed_final'],
      to: 'payment_pending',
      because: 'A payment for it was prepared, or its gateway shows one under way.',
    },
    {
      name: 'fail',
      from: ['pending_payment', 'payment_pending'],
      to: 'failed_final',
      because: 'The last of its payments that were open failed or expired.',
    },
    {
      name: 'reopen',
      from: ['payment_pending', 'failed_final'],
      to: 'pending_payment',
      because: 'A payment was captured that does not count for it: a person is asked.',
    },
    {
      name: 'count_part',
      from: ['pending_payment', 'payment_pending', 'failed_final', 'partially_paid'],
      to: 'partially_paid',
      because: 'A capture counts, and more is due.',
    },
    {
      name: 'pay',
      from: ['pending_payment', 'payment_pending', 'failed_final', 'partially_paid'],
      to: 'paid',
      because: 'The capture that completes what is due counts.',
    },
    { name: 'cancel', from: CANCELLABLE_ORDER_STATUSES, to: 'cancelled', because: 'The merchant cancels it.' },
    { name: 'expire', from: CANCELLABLE_ORDER_STATUSES, to: 'expired', because: 'Its time is over.' },
    {
      name: 'revive_in_part',
      from: ['cancelled', 'expired'],
      to: 'partially_paid',
      because: 'A person counts a capture that came too late, and more is due.',
      decided: true,
    },
    {
      name: 'revive',
      from: ['cancelled', 'expired'],
      to: 'paid',
      because: 'A person counts a capture that came too late, and it completes what is due.',
      decided: true,
    },
  ],
};

/**
 * The status of an order that no capture counts for yet, from the payments known for it: a payment under way makes it
 * `payment_pending`; when all have failed or expired and none is open it is `failed_final`.
 */
export function unpaidOrderStatus(payments: readonly PaymentStatus[]): OrderStatus {
  if (payments.some(isOpenPayment)) return 'payment_pending';
  const over = payments.filter((status) => status === 'failed' || status === 'expired');
  return over.length > 0 && over.length === payments.length ? 'failed_final' : 'pending_payment';
}

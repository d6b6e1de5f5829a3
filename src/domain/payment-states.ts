import { reaches, type StateMachine } from './state-machine.ts';

export const PAYMENT_STATUSES = ['pending', 'authorized', 'captured', 'failed', 'expired'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/**
 * One payment, as its gateway shows it (B3). `captured` is final: what happens to the money afterwards (refunds, disputes)
 * stands in amounts and flags beside the status and never hides that the money came.
 */
export const PAYMENT_MACHINE: StateMachine<PaymentStatus> = {
  name: 'payment',
  about: 'One payment, as its gateway shows it when it is asked. What events say alone changes nothing.',
  states: {
    pending: 'Begun, and nothing has come yet.',
    authorized: 'The customer has agreed; the money is promised and not taken.',
    captured: 'The money is taken.',
    failed: 'The attempt failed; the same payment may be tried again.',
    expired: 'Nobody can pay it any more.',
  },
  begins: PAYMENT_STATUSES,
  finals: ['captured'],
  skips: true,
  transitions: [
    { name: 'authorize', from: ['pending'], to: 'authorized', because: 'The customer agreed.' },
    { name: 'capture', from: ['pending', 'authorized'], to: 'captured', because: 'The gateway took the money.' },
    { name: 'fail', from: ['pending', 'authorized'], to: 'failed', because: 'The attempt was declined.' },
    // A failed attempt may be repeated under the same payment, and its success recovers it.
    { name: 'retry', from: ['failed'], to: 'pending', because: 'The customer tries again.' },
    { name: 'agree_again', from: ['failed'], to: 'authorized', because: 'A repeated attempt was agreed to.' },
    { name: 'expire', from: ['pending', 'authorized', 'failed'], to: 'expired', because: 'The gateway closed it.' },
    // Gateways have been seen to capture a payment that they had already called expired.
    {
      name: 'recover',
      from: ['failed', 'expired'],
      to: 'captured',
      because: 'A later success of the same payment.',
    },
  ],
};

/** Whether one or more named transitions lead from `from` to `to`; a state does not reach itself by standing still. */
export function paymentReaches(from: PaymentStatus, to: PaymentStatus): boolean {
  return reaches(PAYMENT_MACHINE, from, to);
}

/** What a payment is after a look. Sticky: a state is left only by a named transition, whatever a later or an older look shows (B3). */
export function paymentStatusAfter(known: PaymentStatus | null, shown: PaymentStatus): PaymentStatus {
  return known === null || paymentReaches(known, shown) ? shown : known;
}

/** Money may still come by itself. */
export function isOpenPayment(status: PaymentStatus): boolean {
  return status === 'pending' || status === 'authorized';
}

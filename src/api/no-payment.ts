import { Problem } from '../domain/problem.ts';

/** Nothing is known of the payment, or of the source that it is said to be of. */
export function noPayment(code: 'payment_not_found' | 'not_found' = 'payment_not_found'): Problem {
  return new Problem(code, 'Neither an event nor a caller ever spoke of this payment.');
}

import { randomBytes } from 'node:crypto';

/**
 * An id that no earlier run has given out: what paid an order once must never come again as another payment, even if
 * the simulator has forgotten everything in between and its customer has not.
 */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString('hex')}`;
}

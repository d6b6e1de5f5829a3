import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import { isJsonObject, objectIn } from '../event-body.ts';
import { declineCode } from './declined.ts';
import { intentFacts } from './facts.ts';

/**
 * A PaymentIntent that was confirmed without the customer, as facts; null for an answer that is none. One that waits for the
 * customer has failed: nobody is there to act, and nobody was given its client secret.
 */
export function offSessionFacts(intent: unknown): PaymentFacts | null {
  const facts = intentFacts(intent);
  return facts !== null && waitsForCustomer(intent) ? { ...facts, status: 'failed' } : facts;
}

/** Why such a PaymentIntent has failed. */
export function offSessionDecline(intent: unknown): string {
  return waitsForCustomer(intent) ? 'authentication_required' : declineCode(objectIn(intent, 'last_payment_error'));
}

function waitsForCustomer(intent: unknown): boolean {
  return isJsonObject(intent) && intent['status'] === 'requires_action';
}

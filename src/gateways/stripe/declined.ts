import Stripe from 'stripe';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { JsonObject } from '../event-body.ts';

/**
 * The answer that a card was declined, as a rejection that is nobody's fault. Null for any other error. `what` completes
 * "stripe did not …".
 */
export function declined(error: unknown, source: string, what: string): GatewayError | null {
  if (!(error instanceof Stripe.errors.StripeCardError) || error.statusCode !== 402) return null;
  return declinedAs(declineCode({ decline_code: error.decline_code, code: error.code }), source, what);
}

/** A card that was declined with this code. */
export function declinedAs(code: string, source: string, what: string): GatewayError {
  return new GatewayError(`${source} did not ${what}: the card was declined (${code}).`, { kind: 'rejected', code });
}

/** The bank's reason where it gives one, else Stripe's code; a `generic_decline` says no more than that. */
export function declineCode({ decline_code: reason, code }: JsonObject): string {
  return [reason === 'generic_decline' ? null : reason, code].find(isCode) ?? 'card_declined';
}

function isCode(code: unknown): code is string {
  return typeof code === 'string' && /^[\x21-\x7e]{1,100}$/.test(code);
}

import Stripe from 'stripe';
import { GatewayError } from '../../domain/gateway-error.ts';
import { parseRetryAfter } from '../../domain/parse-retry-after.ts';
import { NoAnswer, UNREADABLE_ANSWER } from './stripe-http-client.ts';

export interface StripeCall {
  readonly source: string;
  readonly kind: 'read' | 'write';
  /** Completes the sentence "stripe did not …": `refund pi_1`. */
  readonly what: string;
  /** What it means that Stripe refuses the amount, and says no more than that. */
  readonly badAmount?: string;
}

type Details = ConstructorParameters<typeof GatewayError>[1];

/** Codes of Stripe's that have a name of ours; they are about the payment or the balance, and not our mistake. */
const KNOWN_CODES: ReadonlyMap<string, string> = new Map([
  ['charge_already_refunded', 'already_refunded'],
  ['charge_already_captured', 'already_captured'],
  ['charge_expired_for_capture', 'authorization_expired'],
  ['capture_charge_authorization_expired', 'authorization_expired'],
  ['amount_too_large', 'refund_exceeds_captured'],
  ['balance_insufficient', 'insufficient_balance'],
  ['insufficient_funds', 'insufficient_balance'],
]);

/** Why what was sent has no answer. */
const WENT_WRONG: ReadonlyMap<string, string> = new Map([
  ['timeout', 'it did not answer in time'],
  ['answer_too_large', 'its answer is too large to be read'],
]);

/** Whatever the SDK threw, as the one error that an adapter throws. */
export function toGatewayError(error: unknown, call: StripeCall): GatewayError {
  if (error instanceof GatewayError) return error;
  if (!(error instanceof Stripe.errors.StripeError))
    return failure(call, 'the stripe package failed', lost(call, 'sdk_failed', error));
  if (error.detail instanceof NoAnswer) return unanswered(error.detail, call);
  return refused(error, call);
}

function unanswered(error: NoAnswer, call: StripeCall): GatewayError {
  if (!error.sent) {
    return failure(call, 'it could not be reached', { kind: 'temporary', code: error.reason, cause: error });
  }
  const what = WENT_WRONG.get(error.reason) ?? 'the connection broke before its answer';
  return failure(call, what, lost(call, error.reason, error));
}

function refused(error: InstanceType<typeof Stripe.errors.StripeError>, call: StripeCall): GatewayError {
  const status = error.statusCode ?? 0;
  const code = error.code ?? `http_${status}`;
  const what = `it answered ${status} ${code}`;
  const retryAfterMs = parseRetryAfter(error.headers?.['retry-after'] ?? null, Date.now());
  if (status === 429 || code === 'rate_limit') return failure(call, what, { kind: 'temporary', code, retryAfterMs });
  if (call.kind === 'read') {
    const unauthorized = status === 401 || status === 403;
    return failure(call, what, { kind: 'temporary', code: unauthorized ? 'unauthorized' : code, retryAfterMs });
  }
  // Not Stripe's own words, so something between us and Stripe spoke, and it cannot know what Stripe did.
  if (code === UNREADABLE_ANSWER || status < 400 || status >= 500) {
    return failure(call, what, { kind: 'unknown', code, retryAfterMs });
  }
  const reused = error.rawType === 'idempotency_error';
  // The first request under this key is still at work; what it does is what counts.
  if (status === 409 && (reused || code === 'idempotency_key_in_use')) {
    return failure(call, what, { kind: 'unknown', code: 'request_in_progress', retryAfterMs });
  }
  const said = `${what}: ${error.message.slice(0, 300)}`;
  if (reused) return failure(call, said, { kind: 'rejected', code: 'idempotency_key_reused', ourFault: true });
  const aboutAmount = error.code === undefined && (error.param === 'amount' || error.param === 'amount_to_capture');
  const badAmount = aboutAmount || code === 'amount_too_large' ? call.badAmount : undefined;
  const known = badAmount ?? KNOWN_CODES.get(code);
  if (known !== undefined) return failure(call, said, { kind: 'rejected', code: known });
  return failure(call, said, { kind: 'rejected', code, ourFault: status !== 402 && status !== 409 });
}

function lost(call: StripeCall, code: string, cause: unknown): Details {
  return { kind: call.kind === 'read' ? 'temporary' : 'unknown', code, cause };
}

function failure(call: StripeCall, why: string, details: Details): GatewayError {
  return new GatewayError(`${call.source} did not ${call.what}: ${why}.`, details);
}

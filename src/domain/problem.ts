/**
 * Every refusal that the HTTP API can answer: its status, whether the same request may succeed later unchanged, and one
 * sentence. Codes are part of the contract; titles may be reworded.
 */
export const PROBLEMS = {
  malformed_request: { status: 400, retryable: false, title: 'The request cannot be read.' },
  idempotency_key_required: { status: 400, retryable: false, title: 'This request needs an Idempotency-Key.' },
  idempotency_key_invalid: { status: 400, retryable: false, title: 'The Idempotency-Key is not a valid one.' },
  unauthenticated: { status: 401, retryable: false, title: 'No valid API key was given.' },
  invalid_signature: { status: 401, retryable: false, title: 'The signature does not hold.' },
  insufficient_scope: { status: 403, retryable: false, title: 'The API key does not allow this.' },
  not_found: { status: 404, retryable: false, title: 'There is nothing here.' },
  unknown_source: { status: 404, retryable: false, title: 'No source of this name is configured.' },
  payment_not_found: { status: 404, retryable: false, title: 'There is no such payment.' },
  method_not_allowed: { status: 405, retryable: false, title: 'This method is not allowed here.' },
  already_decided: { status: 409, retryable: false, title: 'This is decided already.' },
  order_exists: { status: 409, retryable: false, title: 'An order with this id exists.' },
  order_not_cancellable: { status: 409, retryable: false, title: 'The order cannot be cancelled.' },
  order_not_payable: { status: 409, retryable: false, title: 'The order takes no payment.' },
  payout_exists: { status: 409, retryable: false, title: 'The seller is paid out for this day already.' },
  request_in_progress: { status: 409, retryable: true, title: 'A request under this key is still running.' },
  delivery_not_resendable: { status: 409, retryable: false, title: 'The delivery cannot be sent again now.' },
  payload_too_large: { status: 413, retryable: false, title: 'The body is too large.' },
  unsupported_encoding: { status: 415, retryable: false, title: 'The Content-Encoding is not supported.' },
  validation_failed: { status: 422, retryable: false, title: 'The request has mistakes.' },
  decision_not_possible: { status: 422, retryable: false, title: 'This cannot be decided so.' },
  idempotency_key_reused: { status: 422, retryable: false, title: 'The Idempotency-Key belongs to another request.' },
  payment_not_refundable: { status: 422, retryable: false, title: 'The payment is not captured.' },
  refund_exceeds_captured: { status: 422, retryable: false, title: 'This is more than can still be refunded.' },
  currency_mismatch: { status: 422, retryable: false, title: 'The currency is another one.' },
  customer_mismatch: { status: 422, retryable: false, title: 'The wallet belongs to another customer.' },
  amount_exceeds_due: { status: 422, retryable: false, title: 'This is more than is due.' },
  address_not_allowed: { status: 422, retryable: false, title: 'This address must not be called.' },
  not_supported: { status: 422, retryable: false, title: 'The source cannot do this.' },
  checkout_not_supported: { status: 422, retryable: false, title: 'The source cannot prepare payments.' },
  internal_error: { status: 500, retryable: true, title: 'Something went wrong on our side.' },
  unavailable: { status: 503, retryable: true, title: 'The database is not available.' },
  not_durable: { status: 503, retryable: true, title: 'The delivery could not be stored.' },
} as const satisfies Readonly<Record<string, { status: number; retryable: boolean; title: string }>>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One mistake in a request, where it is and what to do. */
export interface RequestMistake {
  /** `lines[0].amount`; empty for the body as a whole. */
  readonly path: string;
  readonly message: string;
}

interface ProblemDetails {
  readonly errors?: readonly RequestMistake[];
  readonly retryAfterSeconds?: number;
  /** Headers that the answer needs, lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal on its way to the client. `detail` is a sentence about this one request. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly title: string;
  readonly errors: readonly RequestMistake[] | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, details: ProblemDetails = {}) {
    super(detail);
    this.code = code;
    this.status = PROBLEMS[code].status;
    this.title = PROBLEMS[code].title;
    this.errors = details.errors ?? null;
    const retryAfter = details.retryAfterSeconds;
    this.headers = {
      ...details.headers,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    };
  }
}

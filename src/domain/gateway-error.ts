/**
 * What a call to a gateway can end in besides its answer; three kinds that are treated differently (F3).
 * - `rejected`: the gateway said no, and nothing happened.
 * - `temporary`: nothing happened, and asking again later may help (429, connection refused).
 * - `unknown`: no answer, a broken one, or a 5xx: it may have happened.
 */
export type GatewayErrorKind = 'rejected' | 'temporary' | 'unknown';

interface GatewayErrorDetails {
  readonly kind: GatewayErrorKind;
  /** The gateway's own code, or a short one of ours (`http_503`, `timeout`, `connection_refused`). */
  readonly code: string;
  /** The gateway's Retry-After, in milliseconds. */
  readonly retryAfterMs?: number | null;
  /** 400, 401, 403, 404 on a write: definite, but our mistake and not the customer's. */
  readonly ourFault?: boolean;
  readonly cause?: unknown;
}

/** Thrown by every gateway adapter, and nothing else is. The message is a sentence an operator understands. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly kind: GatewayErrorKind;
  readonly code: string;
  readonly retryAfterMs: number | null;
  readonly ourFault: boolean;

  constructor(message: string, details: GatewayErrorDetails) {
    super(message, { cause: details.cause });
    this.kind = details.kind;
    this.code = details.code;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.ourFault = details.ourFault ?? false;
  }
}

/**
 * A webhook whose signature does not hold. `reason` is one short word for counters: `missing`, `malformed`, `mismatch`,
 * `too_old`, `too_new`.
 */
export class InvalidSignature extends Error {
  override readonly name = 'InvalidSignature';
  readonly reason: 'missing' | 'malformed' | 'mismatch' | 'too_old' | 'too_new';

  constructor(reason: InvalidSignature['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

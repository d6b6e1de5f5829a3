/**
 * A target did not take an event. The message goes into workflow history and before people: it holds no address of a
 * person, no secret, and nothing that the target's answer said about a person.
 */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  /** What the target asked for (Retry-After), in milliseconds. */
  readonly retryAfterMs: number | null;
  /** Trying again cannot help: a person is asked at once. */
  readonly final: boolean;
  /** What the target answered, where it speaks HTTP and did answer. */
  readonly httpStatus: number | null;

  constructor(
    message: string,
    options: {
      readonly retryAfterMs?: number | null;
      readonly final?: boolean;
      readonly httpStatus?: number | null;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.final = options.final ?? false;
    this.httpStatus = options.httpStatus ?? null;
  }
}

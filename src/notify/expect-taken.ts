import { DeliveryError } from './delivery-error.ts';
import type { PostAnswer } from './post-json.ts';

/**
 * A 2xx means that the receiver has it. The answer's text is not repeated: it may say something about a person.
 *
 * @throws DeliveryError for everything else: final where the receiver says that it will never take it (410)
 */
export function expectTaken(name: string, { status, retryAfterMs }: PostAnswer): void {
  if (status >= 200 && status <= 299) return;
  const redirects = status >= 300 && status <= 399;
  const why = redirects ? ', a redirect, which is not followed: correct its address' : '';
  throw new DeliveryError(`${name} answered ${status}${why}.`, {
    retryAfterMs,
    httpStatus: status,
    final: status === 410,
  });
}

import { isDatabaseUnavailable, isValueRefused } from '../database/postgres-errors.ts';
import { Problem } from '../domain/problem.ts';

/** A pool that is starved or a server that restarts is back within seconds. */
const RETRY_AFTER_SECONDS = 2;

/** What any error means to the client; null where it is a mistake of ours, to be logged and told as such. */
export function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (isDatabaseUnavailable(error)) {
    return new Problem(
      'unavailable',
      'The database cannot be had in time. Nothing was stored; send the request again.',
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
    );
  }
  if (isValueRefused(error)) return new Problem('validation_failed', 'A value lies outside of what can be stored.');
  // Express: an address that is not percent-encoded as it should be.
  if (error instanceof URIError) return new Problem('malformed_request', 'The address cannot be read.');
  return null;
}

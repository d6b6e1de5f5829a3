import { randomBytes } from 'node:crypto';

/** Names one request in its answer and in the log; it is no key of anything. */
export function newRequestId(): string {
  return `req_${randomBytes(12).toString('hex')}`;
}

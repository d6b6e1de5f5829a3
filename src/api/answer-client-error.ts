import type { Duplex } from 'node:stream';
import { Problem } from '../domain/problem.ts';
import { newRequestId } from './new-request-id.ts';
import { problemResponse } from './problem-response.ts';

/** What Node calls a request that did not arrive in time; there may be nobody left to read more than the status. */
const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';
const TOO_SLOW_ANSWER = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n';

/** Answers what is no HTTP, such as a control character in a header, as every other refusal is answered. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(error.code === TOO_SLOW ? TOO_SLOW_ANSWER : malformed());
}

function malformed(): string {
  const requestId = newRequestId();
  const problem = new Problem('malformed_request', 'The request is not HTTP: see its request line and its headers.');
  const { status, headers, body } = problemResponse(problem, requestId);
  const lines = Object.entries({
    ...headers,
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} Bad Request`, ...lines, '', body].join('\r\n');
}

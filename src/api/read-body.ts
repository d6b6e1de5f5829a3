import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { Problem } from '../domain/problem.ts';

/** Charsets and the like that senders put here by mistake: the body is not encoded. */
const IDENTITY_LIKE: ReadonlySet<string> = new Set([
  ...['', 'identity', 'none', 'utf-8', 'utf8', 'ascii', 'us-ascii', 'iso-8859-1', 'latin1', 'binary', '7bit', '8bit'],
]);

type Inflater = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const INFLATERS: Readonly<Record<string, Inflater>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: inflateEither,
};

/** More than one layer is nobody's honest webhook, and each one multiplies what a small body may unfold to. */
const MOST_LAYERS = 2;
/** Compression makes incompressible bytes a little longer. */
const DEFLATED_SLACK = 64 * 1024;
/**
 * What is read and thrown away of a body that is too large: a sender that still writes would not see the answer, only a
 * broken connection. Beyond it the connection is worth less than the bandwidth.
 */
const MOST_DRAINED = 32 * 1024 * 1024;

/** The sender went away before its request was complete; there is nobody to answer. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

/**
 * Reads a request's body to its end and inflates gzip, deflate and br; bombs are stopped while they unfold.
 *
 * @param limit bytes at most, counted after inflating
 * @throws Problem `payload_too_large`, `unsupported_encoding` or `malformed_request`; RequestAborted
 */
export async function readBody(stream: Readable, contentEncoding: string | undefined, limit: number): Promise<Buffer> {
  const layers = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim())
    .filter((layer) => !IDENTITY_LIKE.has(layer));
  const inflaters = layers.map((layer) => (Object.hasOwn(INFLATERS, layer) ? INFLATERS[layer] : undefined));
  const received = await collect(stream, layers.length === 0 ? limit : limit + DEFLATED_SLACK);
  if (inflaters.includes(undefined) || layers.length > MOST_LAYERS) {
    throw new Problem('unsupported_encoding', 'Content-Encoding may be gzip, deflate or br, or be left out.');
  }
  let body = received;
  // The last one named was applied last.
  for (const inflater of inflaters.reverse()) {
    if (inflater !== undefined) body = await inflater(body, { maxOutputLength: limit }).catch(refuse(limit));
  }
  return body;
}

function refuse(limit: number): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new Problem('malformed_request', 'The body cannot be inflated as its Content-Encoding says.');
  };
}

/** `deflate` means zlib's format; some senders leave its two-byte frame off. */
function inflateEither(body: Buffer, options: { maxOutputLength: number }): Promise<Buffer> {
  const framed = body.length > 1 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
  return promisify(framed ? inflate : inflateRaw)(body, options);
}

function collect(stream: Readable, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else chunks = [];
      if (size > limit + MOST_DRAINED) settle(tooLarge(limit, { connection: 'close' }));
    };
    const onEnd = (): void => settle(size > limit ? tooLarge(limit) : null);
    const onGone = (): void => settle(new RequestAborted('The sender went away before its request was complete.'));
    const settle = (error: Error | null): void => {
      stream.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      // Whatever still comes of a stream that nobody reads must not become an uncaught error.
      stream.on('error', () => {});
      if (error !== null) reject(error);
      else resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    };
    stream.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

function tooLarge(limit: number, headers: Readonly<Record<string, string>> = {}): Problem {
  return new Problem('payload_too_large', `The body may have ${limit} bytes at most.`, { headers });
}

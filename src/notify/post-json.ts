import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { parseRetryAfter } from '../domain/parse-retry-after.ts';
import { DeliveryError } from './delivery-error.ts';

export interface PostToSend {
  /** Who is called, for people: `sink crm`. Stands in every message, where the address may not: it can hold a secret. */
  readonly name: string;
  readonly url: string;
  /** JSON text. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** From the connection's beginning to the answer. */
  readonly timeoutMs: number;
  /** Aborts with the attempt that waits for it. */
  readonly signal?: AbortSignal;
  /** Resolves the host's name in place of the system. It is not asked where the URL names an address. */
  readonly lookup?: NonNullable<RequestOptions['lookup']>;
}

export interface PostAnswer {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** Its beginning: what a person may want to read of a refusal. */
  readonly body: string;
}

/** Nobody reads more of an answer, and a receiver must not fill our memory. */
const LONGEST_ANSWER_BYTES = 16 * 1024;

/**
 * Sends one POST, once: on a connection of its own, with a time limit, following no redirect and trying nothing again
 * (retries live in Temporal alone, F4).
 *
 * @returns whatever was answered, a refusal too: see `expectTaken`
 * @throws DeliveryError where no answer came
 */
export async function postJson(post: PostToSend): Promise<PostAnswer> {
  const timeout = AbortSignal.timeout(post.timeoutMs);
  const signal = post.signal === undefined ? timeout : AbortSignal.any([post.signal, timeout]);
  try {
    return await send(post, signal);
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    const why = timeout.aborted
      ? `did not answer within ${post.timeoutMs} ms`
      : post.signal?.aborted === true
        ? 'was not waited for any longer'
        : `could not be reached, or broke the connection off (${typeof code === 'string' ? code : 'no reason given'})`;
    throw new DeliveryError(`${post.name} ${why}.`, { cause });
  }
}

function send(post: PostToSend, signal: AbortSignal): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const { protocol } = new URL(post.url);
    const bytes = Buffer.from(post.body);
    const request = (protocol === 'https:' ? httpsRequest : httpRequest)(post.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': bytes.length, ...post.headers },
      // Not kept open: a connection that the other side has just closed would fail the next one that uses it.
      agent: false,
      signal,
      ...(post.lookup === undefined ? {} : { lookup: post.lookup }),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      // From here on the answer itself says what becomes of it.
      request.off('error', reject).on('error', () => undefined);
      readAnswer(response).then(resolve, reject);
    });
    request.end(bytes);
  });
}

/** The status says it all; the text is only for people. */
const LONGEST_TEXT_MS = 2_000;

/** An answer whose text breaks off, or does not end, is an answer all the same: its status came whole. */
async function readAnswer(response: IncomingMessage): Promise<PostAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => response.destroy(), LONGEST_TEXT_MS);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      // Leaving the loop closes the connection.
      if (length >= LONGEST_ANSWER_BYTES) break;
    }
  } catch {
    // What came is kept.
  } finally {
    clearTimeout(timer);
  }
  return {
    status: response.statusCode ?? 0,
    retryAfterMs: parseRetryAfter(response.headers['retry-after'] ?? null, Date.now()),
    body: Buffer.concat(chunks).subarray(0, LONGEST_ANSWER_BYTES).toString(),
  };
}

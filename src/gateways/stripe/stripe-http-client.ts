import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import Stripe from 'stripe';
import { isJsonObject } from '../event-body.ts';
import { parseExactJson } from '../exact-json.ts';
import { AnswerTooLarge, readAnswer } from '../read-answer.ts';

/**
 * No answer came. It bears no `code` on purpose: by that the SDK would recognise a closed connection and send the
 * request once more, even with its retries turned off.
 */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  /** `connection_refused`, `host_not_found`, `connection_failed`, `connection_lost`, `timeout`, `answer_too_large`. */
  readonly reason: string;
  /** False: the connection never stood, so not one byte of the request went out. */
  readonly sent: boolean;

  constructor(reason: string, sent: boolean, cause?: unknown) {
    super(`No answer: ${reason}`, { cause });
    this.reason = reason;
    this.sent = sent;
  }
}

/**
 * The SDK's transport, ours for three reasons: a request goes out once and never again; the timeout covers the whole
 * call, not the silence between two bytes; and a failure says whether anything had been sent.
 */
export class StripeHttpClient extends Stripe.HttpClient {
  readonly #base: URL;
  readonly #prefix: string;
  readonly #reads: HttpAgent | HttpsAgent;

  /** `apiBase` is a http or https URL; a path before `/v1` is kept. */
  constructor(apiBase: string) {
    super();
    this.#base = new URL(apiBase);
    this.#prefix = this.#base.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
    const settings = { keepAlive: true, maxSockets: 50 };
    this.#reads = this.#base.protocol === 'https:' ? new HttpsAgent(settings) : new HttpAgent(settings);
  }

  override getClientName(): string {
    return 'paidonce';
  }

  override makeRequest(
    _host: string,
    _port: string,
    path: string,
    method: string,
    headers: object,
    body: string,
    _protocol: string,
    timeoutMs: number,
  ): Promise<StripeAnswer> {
    const secure = this.#base.protocol === 'https:';
    return new Promise((resolve, reject) => {
      let connected = false;
      let timedOut = false;
      const fail = (error: unknown): void => reject(noAnswer(error, connected, timedOut));
      const request = (secure ? httpsRequest : httpRequest)(new URL(this.#prefix + path, this.#base), {
        method,
        headers: { ...headers },
        // A kept connection may be closed by the other side just as a request goes out, and then nobody knows whether it
        // arrived. A read may be asked again; a write gets a connection of its own.
        agent: method === 'GET' ? this.#reads : false,
      });
      const deadline = setTimeout(() => {
        timedOut = true;
        request.destroy();
      }, timeoutMs);
      request.once('socket', (socket) => {
        if (!socket.connecting) connected = true;
        else socket.once(secure ? 'secureConnect' : 'connect', () => (connected = true));
      });
      request.once('close', () => clearTimeout(deadline));
      request.on('error', fail);
      request.once('response', (response) => {
        collect(response).then(resolve, (error: unknown) => {
          request.destroy();
          fail(error);
        });
      });
      request.end(body);
    });
  }
}

function noAnswer(error: unknown, sent: boolean, timedOut: boolean): NoAnswer {
  if (error instanceof AnswerTooLarge) return new NoAnswer('answer_too_large', true, error);
  if (timedOut) return new NoAnswer('timeout', sent, error);
  if (sent) return new NoAnswer('connection_lost', true, error);
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  const code = (first as { code?: unknown } | null)?.code;
  if (code === 'ECONNREFUSED') return new NoAnswer('connection_refused', false, error);
  const unknownHost = code === 'ENOTFOUND' || code === 'EAI_AGAIN';
  return new NoAnswer(unknownHost ? 'host_not_found' : 'connection_failed', false, error);
}

/** A refusal whose text cannot be read is a refusal all the same: its status came whole. */
async function collect(response: IncomingMessage): Promise<StripeAnswer> {
  const text = await readAnswer(response).catch((error: unknown) => {
    if ((response.statusCode ?? 0) < 400) throw error;
    return '';
  });
  return new StripeAnswer(response, text);
}

/**
 * An answer as the SDK wants it, with amounts that were not rounded. What Stripe itself would not say (no JSON, or a
 * refusal without `error`, which the SDK hands over as if it were the object) becomes an error of code `unreadable_answer`.
 */
class StripeAnswer extends Stripe.HttpClientResponse {
  readonly #text: string;

  constructor(response: IncomingMessage, text: string) {
    super(response.statusCode ?? 0, response.headers as Record<string, string>);
    this.#text = text;
  }

  override getRawResponse(): object {
    return {};
  }

  override toJSON(): Promise<unknown> {
    const answer = this.#parse();
    const readable = isJsonObject(answer) && (this.getStatusCode() < 400 || isJsonObject(answer['error']));
    const unreadable = { type: 'api_error', code: UNREADABLE_ANSWER, message: 'The answer could not be understood.' };
    return Promise.resolve(readable ? answer : { error: unreadable });
  }

  #parse(): unknown {
    try {
      return parseExactJson(this.#text);
    } catch {
      return null;
    }
  }
}

export const UNREADABLE_ANSWER = 'unreadable_answer';

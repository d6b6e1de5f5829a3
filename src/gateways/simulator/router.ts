import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { ZodError } from 'zod';
import { Refusal } from './refusal.ts';

/** More than any call of the protocol needs, little enough that a mistake does not fill the memory. */
const LARGEST_BODY = 1024 * 1024;

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Aborted when the caller has closed the connection before it was answered. */
  readonly gone: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How the answer gets lost: no byte of it, half of it, as something else, or it never ends. */
  readonly lost?: 'cut' | 'half' | 'garble' | 'hang';
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** A part that begins with ':' is a parameter. */
  readonly path: string;
  readonly handle: (request: Request) => Reply | Promise<Reply>;
}

/** The JSON of a request; throws `Refusal` where it is none. */
export function jsonOf(request: Request): unknown {
  try {
    return request.body === '' ? {} : (JSON.parse(request.body) as unknown);
  } catch {
    throw new Refusal(400, 'malformed_request', 'The body is not JSON.');
  }
}

export function createRouter(routes: readonly Route[]): Server {
  const compiled = routes.map((route) => ({ ...route, parts: route.path.split('/') }));

  async function answer(incoming: IncomingMessage, gone: AbortSignal): Promise<Reply> {
    const target = incoming.url ?? '/';
    const url = new URL(target.startsWith('//') ? '/' : target, 'http://simulator');
    const parts = url.pathname.split('/').map(decodePart);
    const body = await readBody(incoming);
    const matching = compiled.filter((route) => matches(route.parts, parts));
    const route = matching.find(({ method }) => method === incoming.method);
    if (!route) return matching.length > 0 ? refused(405, 'method_not_allowed') : refused(404, 'not_found');
    const params = Object.fromEntries(
      route.parts.flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), parts[at] ?? '']] : [])),
    );
    const { headers } = incoming;
    return route.handle({
      method: route.method,
      path: url.pathname,
      params,
      query: url.searchParams,
      headers,
      body,
      gone,
    });
  }

  return createServer((incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    answer(incoming, gone.signal)
      .catch((error: unknown) => toReply(error, gone.signal.aborted))
      .then((reply) => write(outgoing, reply))
      .catch(() => outgoing.destroy());
  });
}

function toReply(error: unknown, gone: boolean): Reply {
  if (error instanceof Refusal) return refused(error.status, error.code, error.message);
  if (error instanceof ZodError) {
    const detail = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    return refused(400, 'invalid_request', detail);
  }
  // A caller who left in the middle of its request is no news.
  if (!gone) process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return refused(500, 'simulator_broken');
}

function refused(status: number, code: string, detail: string = code): Reply {
  return { status, json: { code, detail } };
}

function write(outgoing: ServerResponse, reply: Reply): void {
  if (outgoing.destroyed || reply.lost === 'hang') return;
  if (reply.lost === 'cut') {
    outgoing.destroy();
    return;
  }
  const text = reply.lost === 'garble' ? '<html>a proxy speaks' : (reply.html ?? JSON.stringify(reply.json ?? {}));
  const type = reply.html !== undefined || reply.lost === 'garble' ? 'text/html; charset=utf-8' : 'application/json';
  const bytes = Buffer.from(text);
  outgoing.writeHead(reply.status, { 'content-type': type, 'content-length': bytes.length, ...reply.headers });
  if (reply.lost === 'half') outgoing.write(bytes.subarray(0, bytes.length >> 1), () => outgoing.destroy());
  else outgoing.end(bytes);
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  return pattern.length === parts.length && pattern.every((part, at) => part.startsWith(':') || part === parts[at]);
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_BODY) throw new Refusal(413, 'payload_too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

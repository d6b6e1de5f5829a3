import type { ServerResponse } from 'node:http';
import { sendJson, startScriptedServer, type SeenRequest } from './scripted-server.ts';

/**
 * - `cut`: the connection breaks before the answer.
 * - `half`: the answer breaks off in its middle.
 * - `swallow`: the answer never comes, and the connection stays open.
 */
export type Loss = 'cut' | 'half' | 'swallow';

export interface PassedRequest extends SeenRequest {
  /** What the server behind answered, whether or not the caller learned it. */
  readonly status: number;
}

export interface LosingProxy {
  readonly url: string;
  /** All that the server behind has answered, in that order. */
  readonly passed: readonly PassedRequest[];
  /**
   * Loses the answer to the next request that matches. Resolves when the server behind has done its work and
   * `meanwhile` is over; only then the answer is lost.
   */
  loseNext(matches: (request: SeenRequest) => boolean, how: Loss, meanwhile?: () => unknown): Promise<void>;
  close(): Promise<void>;
}

interface Order {
  readonly matches: (request: SeenRequest) => boolean;
  readonly lose: (response: ServerResponse, text: string) => Promise<void>;
}

/** What the proxy answers by itself; null: it asks the server behind. */
export type Instead = (request: SeenRequest) => { readonly status: number; readonly body: object } | null;

/** An HTTP proxy on 127.0.0.1 that loses chosen answers: the work is done, and the one who asked for it never learns it. */
export async function startLosingProxy(upstreamUrl: string, instead: Instead = () => null): Promise<LosingProxy> {
  const passed: PassedRequest[] = [];
  const orders: Order[] = [];
  const server = await startScriptedServer(async (request, response) => {
    const own = instead(request);
    if (own !== null) return sendJson(response, own.status, own.body);
    const { status, text, headers } = await ask(upstreamUrl, request);
    passed.push({ ...request, status });
    const at = orders.findIndex(({ matches }) => matches(request));
    const [order] = at === -1 ? [] : orders.splice(at, 1);
    return order === undefined ? sendJson(response, status, text, headers) : order.lose(response, text);
  });
  return {
    url: server.url,
    passed,
    loseNext: (matches, how, meanwhile = () => undefined) =>
      new Promise((resolve, reject) => {
        const lose = async (response: ServerResponse, text: string): Promise<void> => {
          await Promise.resolve(meanwhile()).then(() => resolve(), reject);
          loseAnswer(response, text, how);
        };
        orders.push({ matches, lose });
      }),
    close: server.close,
  };
}

async function ask(upstreamUrl: string, { method, path, headers, body }: SeenRequest) {
  // These belong to one connection, and there are two.
  const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...kept } = headers;
  const answer = await fetch(upstreamUrl + path, {
    method,
    headers: kept as Record<string, string>,
    ...(body === '' ? {} : { body }),
  });
  const retryAfter = answer.headers.get('retry-after');
  return {
    status: answer.status,
    text: await answer.text(),
    headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
  };
}

function loseAnswer(response: ServerResponse, text: string, how: Loss): void {
  if (how === 'cut') response.socket?.resetAndDestroy();
  if (how !== 'half') return;
  const bytes = Buffer.from(text);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
}

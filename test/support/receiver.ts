import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A webhook as it arrived. */
export interface ReceivedWebhook {
  /** The `webhook-id`. */
  readonly id: string;
  /** Of the request's address. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Byte for byte. */
  readonly text: string;
  readonly body: any;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What it was answered. */
  readonly status: number;
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** It takes the webhook and never says so. */
  readonly silent?: boolean;
}

/** Somebody else's service: a real HTTP server that receives webhooks. */
export interface Receiver {
  readonly url: string;
  /** All that came, in order. */
  readonly received: readonly ReceivedWebhook[];
  /** What is answered from now on; it may look at what came. */
  answer(
    how: ReceiverAnswer | ((webhook: Omit<ReceivedWebhook, 'status'>) => ReceiverAnswer | Promise<ReceiverAnswer>),
  ): void;
  /** Those of a type that were answered 2xx. */
  taken(type?: string): ReceivedWebhook[];
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedWebhook[] = [];
  let how: Parameters<Receiver['answer']>[0] = { status: 204 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => void answerTo(request, Buffer.concat(chunks).toString(), response));
  });
  async function answerTo({ headers, url }: IncomingMessage, text: string, response: ServerResponse): Promise<void> {
    const webhook = {
      ...{ id: String(headers['webhook-id']), path: url ?? '', headers, text, at: Date.now() },
      body: JSON.parse(text) as unknown,
    };
    const answer = typeof how === 'function' ? await how(webhook) : how;
    received.push({ ...webhook, status: answer.status });
    if (answer.silent === true) return;
    response.writeHead(answer.status, answer.headers ?? {}).end(answer.body ?? '');
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    answer(next) {
      how = next;
    },
    taken: (type) =>
      received.filter(
        ({ status, body }) => status >= 200 && status <= 299 && (type === undefined || body.type === type),
      ),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether a webhook is signed with this secret, by the library that receivers use. */
export function isSignedWith(secret: string, { text, headers }: ReceivedWebhook): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

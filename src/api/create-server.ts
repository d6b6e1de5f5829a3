import { createServer as createHttpServer, type Server } from 'node:http';
import { createApp } from './create-app.ts';
import type { ApiDeps } from './deps.ts';
import type { RefusalCounter } from './receive/refusal-counter.ts';
import { createWebhookListener } from './receive/webhook-listener.ts';

/**
 * A signature header of absurd length is to be refused as a signature, with 401 and a line in the counts; below this limit Node
 * would answer 431 before we see it.
 */
const MOST_HEADER_BYTES = 256 * 1024;
/** A request that takes longer to arrive holds a socket for nothing; the slowest honest sender of 4 MiB is done by then. */
const REQUEST_TIMEOUT_MS = 30_000;

/** The HTTP server: webhooks ahead of the framework, everything else on it. Not listening yet. */
export function createServer(deps: ApiDeps & { readonly refusals: RefusalCounter }): Server {
  const app = createApp(deps);
  const receive = createWebhookListener(deps);
  const options = { maxHeaderSize: MOST_HEADER_BYTES, requestTimeout: REQUEST_TIMEOUT_MS };
  return createHttpServer(options, (request, response) => {
    if (!receive(request, response)) app(request, response);
  });
}

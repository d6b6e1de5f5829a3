import { createServer as createHttpServer, type Server } from 'node:http';
import { answerClientError } from './answer-client-error.ts';
import { createApp } from './create-app.ts';
import type { ApiDeps } from './deps.ts';
import { createDeliveryStore } from './receive/delivery-store.ts';
import type { RefusalCounter } from './receive/refusal-counter.ts';
import { createWebhookListener } from './receive/webhook-listener.ts';

/**
 * A signature header of absurd length is to be refused as a signature, with 401 and a line in the counts; below this limit Node
 * would answer 431 before we see it.
 */
const MOST_HEADER_BYTES = 256 * 1024;
/** A request that takes longer to arrive holds a socket for nothing; the slowest honest sender of 4 MiB is done by then. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Longer than load balancers keep an idle connection (60 s): else one is closed under a request that is on its way. */
const KEEP_ALIVE_MS = 65_000;

/** The HTTP server: webhooks ahead of the framework, everything else on it. Not listening yet. */
export function createServer(deps: ApiDeps & { readonly refusals: RefusalCounter }): Server {
  const app = createApp(deps);
  const receive = createWebhookListener({ ...deps, deliveries: createDeliveryStore(deps.pool) });
  const options = {
    maxHeaderSize: MOST_HEADER_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = createHttpServer(options, (request, response) => {
    if (!receive(request, response)) app(request, response);
  });
  return server.on('clientError', answerClientError);
}

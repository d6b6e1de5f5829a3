import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../domain/problem.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { newRequestId } from '../new-request-id.ts';
import { type HttpAnswer, problemResponse } from '../problem-response.ts';
import { RequestAborted } from '../read-body.ts';
import { type ReceiverDeps, receiveWebhook, RefusedSignature, type WebhookReceipt } from './receive-webhook.ts';

const PREFIX = '/webhooks/';
/** What a name that is not ours counts as: a stranger's text must not become a label or a key. */
const UNKNOWN = 'unknown';

/**
 * The webhook route on bare `node:http`: a framework costs more than the signature and half the insert together.
 *
 * @returns whether the request was for it
 */
export function createWebhookListener(
  deps: ReceiverDeps & { readonly metrics: Metrics },
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    if (request.url?.startsWith(PREFIX) !== true) return false;
    void answer(deps, request, response);
    return true;
  };
}

async function answer(
  deps: ReceiverDeps & { readonly metrics: Metrics },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = newRequestId();
  const [path = ''] = (request.url ?? '').slice(PREFIX.length).split('?');
  const source = deps.sources.has(path) ? path : UNKNOWN;
  const remoteAddress = request.socket.remoteAddress ?? null;
  const began = performance.now();
  let result: string;
  let reply: HttpAnswer;
  try {
    if (request.method !== 'POST') {
      throw new Problem('method_not_allowed', 'Webhooks are sent by POST.', { headers: { allow: 'POST' } });
    }
    const receipt = await receiveWebhook(deps, {
      source: path,
      body: request,
      headers: request.headers,
      remoteAddress,
    });
    result = receipt.duplicate ? 'duplicate' : receipt.state;
    reply = receivedResponse(receipt);
  } catch (error) {
    if (error instanceof RequestAborted) {
      deps.metrics.webhooks.inc({ source, result: 'aborted' });
      return;
    }
    const problem = error instanceof Problem ? error : unexpected(deps, error, requestId);
    result = problem.code;
    reply = problemResponse(problem, requestId);
    // What we could not store is no refusal: the sender did nothing wrong.
    if (problem.status < 500) {
      const reason = problem instanceof RefusedSignature ? `${problem.code}:${problem.reason}` : problem.code;
      deps.refusals.count({ source, reason, at: deps.now(), remoteAddress });
    }
  }
  deps.metrics.webhooks.inc({ source, result });
  deps.metrics.webhookAckSeconds.observe((performance.now() - began) / 1000);
  deps.log.debug({ request_id: requestId, source, result, status: reply.status }, 'webhook answered');
  response.writeHead(reply.status, { ...reply.headers, 'content-length': Buffer.byteLength(reply.body) });
  response.end(reply.body);
}

function receivedResponse({ duplicate, eventId }: WebhookReceipt): HttpAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ received: true, duplicate, event_id: eventId }),
  };
}

function unexpected(deps: ReceiverDeps, error: unknown, requestId: string): Problem {
  deps.log.error({ err: error, request_id: requestId }, 'webhook failed');
  return new Problem('not_durable', 'The delivery is not stored. Send it again.', { retryAfterSeconds: 5 });
}

import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { StepCounter } from './step-counter.ts';

/** The gateway's own ids of what we asked it to make: later calls name nothing else. */
const MADE = /"(?:id|payment_id|refund_id|payout_id)":\s*"((?:pay|re|po|pi|tr)_[^"]+)"/g;

/** Counts every call of a gateway, before it is sent and after its answer came, in both ways in which adapters call. */
export function countGatewayCalls(counter: StepCounter): void {
  const send = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!counter.concerns(url)) return send(input, init);
    const method = input instanceof Request ? input.method : (init?.method ?? 'GET');
    const what = `gateway ${method} ${new URL(url).pathname}`;
    counter.step('before', what);
    const answer = await send(input, init);
    const text = await answer.text();
    learnFrom(counter, text);
    counter.step('after', what);
    const { status, statusText, headers } = answer;
    return new Response(status === 204 || status === 304 ? null : text, { status, statusText, headers });
  };

  const open = http.request.bind(http) as (...args: unknown[]) => ClientRequest;
  (http as { request: unknown }).request = (...args: unknown[]): ClientRequest => {
    const what = `gateway ${String(args[0])}`;
    if (!counter.concerns(String(args[0]))) return open(...args);
    counter.step('before', what);
    const request = open(...args);
    request.once('response', (answer: IncomingMessage) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => {
        learnFrom(counter, Buffer.concat(chunks).toString());
        counter.step('after', what);
      });
    });
    return request;
  };
  syncBuiltinESMExports();
}

function learnFrom(counter: StepCounter, answer: string): void {
  for (const [, id] of answer.matchAll(MADE)) if (id !== undefined) counter.learn(id);
}

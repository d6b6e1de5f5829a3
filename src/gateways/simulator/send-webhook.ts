import { Webhook } from 'standardwebhooks';
import type { SentEvent } from './state.ts';

/** A receiver is promised an answer to wait for; beyond it the webhook counts as not delivered. */
const TIMEOUT_MS = 10_000;

export interface SendResult {
  readonly acknowledged: boolean;
  /** The HTTP status, or a word where there was no answer. */
  readonly last: string;
  readonly retryAfterMs: number | null;
}

/** Sends one signed copy of an event; the same bytes and the same id every time, signed for the moment. */
export async function sendWebhook(
  event: SentEvent,
  target: { readonly url: string; readonly secret: string },
  stop: AbortSignal,
): Promise<SendResult> {
  const body = JSON.stringify({ type: event.type, timestamp: event.timestamp, data: event.data });
  const now = new Date();
  try {
    const response = await fetch(target.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': event.id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(target.secret).sign(event.id, now, body),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    // The connection is free for the next webhook only once the answer has been read to its end.
    await response.arrayBuffer();
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      acknowledged: response.ok,
      last: String(response.status),
      retryAfterMs: seconds >= 0 ? seconds * 1000 : null,
    };
  } catch (error) {
    return { acknowledged: false, last: error instanceof Error ? error.name : 'failed', retryAfterMs: null };
  }
}

import { WEBHOOK_CONSUMER } from '../../domain/keys.ts';
import type { AddressGuard } from '../address-guard.ts';
import type { Consumer, ConsumerRetry } from '../consumer.ts';
import { expectTaken } from '../expect-taken.ts';
import { sendWebhook, type WebhookTarget } from '../send-webhook.ts';
import { webhookBody } from '../webhook-body.ts';

/** An endpoint as it stands now. */
export interface WebhookEndpoint extends WebhookTarget {
  readonly disabled: boolean;
}

/** What most senders of webhooks give a receiver. */
const WEBHOOK_TIMEOUT_MS = 15_000;
/** The endpoint is read before it, and the beginning of its answer's text after it. */
const ATTEMPT_TIMEOUT_MS = WEBHOOK_TIMEOUT_MS + 3_000;

/**
 * The first try again comes within 2 s, since most failures are restarts; the intervals double up to 6 h. Each delay is drawn
 * from nothing up to its interval, half of it on average, so that 30 tries last about two days: a receiver that breaks on a
 * Saturday is mended before they are over, and a person hears of one that is gone for good.
 */
const WEBHOOK_RETRY: ConsumerRetry = {
  initialIntervalMs: 2_000,
  maximumIntervalMs: 6 * 3_600_000,
  maximumAttempts: 30,
  timeoutMs: ATTEMPT_TIMEOUT_MS,
};

export interface WebhookConsumerOptions {
  readonly guard: AddressGuard;
  /** Asked in every try, so that a change holds at once. Null where there is no such endpoint. */
  readonly readEndpoint: (id: string) => Promise<WebhookEndpoint | null>;
  readonly retry?: ConsumerRetry;
}

/** Sends events, signed, to the endpoints that subscribe to them; each endpoint is a target of its own. */
export function createWebhookConsumer({
  guard,
  readEndpoint,
  retry = WEBHOOK_RETRY,
}: WebhookConsumerOptions): Consumer {
  return {
    name: WEBHOOK_CONSUMER,
    types: [],
    retry,
    async deliver({ event, target, signal }) {
      const endpoint = await readEndpoint(target);
      if (endpoint === null) return { status: 'skipped', reason: 'There is no such endpoint any more.' };
      if (endpoint.disabled) return { status: 'skipped', reason: 'The endpoint is disabled.' };
      const message = { id: event.id, body: webhookBody(event) };
      const answer = await sendWebhook(endpoint, message, { guard, timeoutMs: WEBHOOK_TIMEOUT_MS, signal });
      expectTaken('The endpoint', answer);
      return { status: 'done', httpStatus: answer.status };
    },
  };
}

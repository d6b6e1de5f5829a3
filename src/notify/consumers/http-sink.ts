import type { Consumer } from '../consumer.ts';
import { webhookBody } from '../webhook-body.ts';
import { expectTaken } from '../expect-taken.ts';
import { postJson } from '../post-json.ts';
import { RETRY_FOR_A_DAY } from '../retry-for-a-day.ts';

export interface HttpSinkSettings {
  /** Stands in consumer_deliveries as `sink:{name}`: another name is another consumer. */
  readonly name: string;
  readonly url: string;
  readonly types: readonly string[];
  /** Sent as a bearer token. */
  readonly secret: string | null;
  /** Further headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A service of the operator's own answers in well under a second; past this it is better asked again later. */
const POST_TIMEOUT_MS = 10_000;
/** The attempt around it also reads and writes its row. */
const ATTEMPT_TIMEOUT_MS = 20_000;

/**
 * A service that the operator named in the configuration (a CRM, analytics): each event is one POST with
 * `Idempotency-Key: outbox:{id}`, by which the receiver knows a repeat. Where it is was the operator's choice, so that
 * private addresses are fine.
 */
export function createHttpSink({ name, url, types, secret, headers }: HttpSinkSettings): Consumer {
  const consumer = `sink:${name}`;
  return {
    name: consumer,
    types,
    retry: { ...RETRY_FOR_A_DAY, timeoutMs: ATTEMPT_TIMEOUT_MS },
    async deliver({ event, signal }) {
      const answer = await postJson({
        name: consumer,
        url,
        body: webhookBody(event),
        headers: {
          ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
          ...headers,
          'idempotency-key': event.id,
        },
        timeoutMs: POST_TIMEOUT_MS,
        signal,
      });
      expectTaken(consumer, answer);
      return { status: 'done' };
    },
  };
}

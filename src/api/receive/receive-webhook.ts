import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Delivery } from '../../database/delivery-statement.ts';
import { isValueRefused } from '../../database/postgres-errors.ts';
import type { StoredDelivery } from '../../database/store-delivery.ts';
import { cleanedJson } from '../../domain/cleaned-text.ts';
import { InvalidSignature } from '../../domain/gateway-error.ts';
import type { Policies } from '../../domain/policies.ts';
import { Problem } from '../../domain/problem.ts';
import { admitted, type Source } from '../../gateways/admitted.ts';
import type { Gateway, WebhookHeaders } from '../../gateways/gateway.ts';
import type { Logger } from '../../telemetry/log.ts';
import { readBody } from '../read-body.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { HandOvers } from './hand-overs.ts';
import type { RefusalCounter } from './refusal-counter.ts';

export interface ReceiverDeps {
  readonly deliveries: DeliveryStore;
  readonly sources: ReadonlyMap<string, Source>;
  readonly policies: Policies;
  readonly handOvers: HandOvers;
  readonly refusals: RefusalCounter;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface WebhookRequest {
  /** The name in the path, as the sender wrote it. */
  readonly source: string;
  readonly body: Readable;
  readonly headers: WebhookHeaders;
  readonly remoteAddress: string | null;
}

export interface WebhookReceipt {
  readonly duplicate: boolean;
  readonly eventId: string;
  readonly state: 'pending' | 'ignored' | 'held';
}

/** Gateways send some kilobytes; a megabyte must pass, and the inbox keeps every byte of it. */
const MOST_WEBHOOK_BYTES = 4 * 1024 * 1024;
/** Senders have schedules of their own; this is for those that listen. */
const RETRY_AFTER_SECONDS = 5;
/** Who may read what we kept must not find a way in there. */
const UNKEPT_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);

/**
 * Takes one delivery: verify, read, store, and only then say so (A1, A2). What follows from the event happens elsewhere;
 * the answer waits for PostgreSQL alone.
 *
 * @throws Problem for every refusal; RequestAborted
 */
export async function receiveWebhook(deps: ReceiverDeps, request: WebhookRequest): Promise<WebhookReceipt> {
  const { headers } = request;
  const encoding = headers['content-encoding'];
  const source = deps.sources.get(request.source);
  // Of a body for nobody not a byte is kept, but it is read: see MOST_DRAINED.
  const limit = source === undefined ? 0 : MOST_WEBHOOK_BYTES;
  const reading = readBody(request.body, Array.isArray(encoding) ? encoding.join(',') : encoding, limit);
  if (source === undefined) {
    await reading.catch(ignoreProblem);
    throw new Problem('unknown_source', 'No source of this name is configured here.');
  }
  const body = await reading;
  verify(source.gateway, { body, headers, now: deps.now() });
  return store(deps, request, source, body);
}

function ignoreProblem(error: unknown): void {
  if (!(error instanceof Problem)) throw error;
}

function verify(gateway: Gateway, webhook: Parameters<Gateway['verify']>[0]): void {
  try {
    gateway.verify(webhook);
  } catch (error) {
    if (error instanceof InvalidSignature) throw new RefusedSignature(error);
    throw error;
  }
}

/** Keeps the short reason for the counters. */
export class RefusedSignature extends Problem {
  readonly reason: InvalidSignature['reason'];

  constructor(refusal: InvalidSignature) {
    super('invalid_signature', refusal.message);
    this.reason = refusal.reason;
  }
}

async function store(
  deps: ReceiverDeps,
  { source: name, headers, remoteAddress }: WebhookRequest,
  source: Source,
  body: Buffer,
): Promise<WebhookReceipt> {
  const bodySha256 = createHash('sha256').update(body).digest();
  const deliveryOf = (keepTexts: boolean): Delivery => ({
    ...admitted(deps.policies, source, body, headers, bodySha256, keepTexts),
    ...{ source: name, body, bodySha256, remoteAddress },
    headers: keepTexts ? keptHeaders(headers) : '{}',
  });
  const delivery = deliveryOf(true);
  const { event } = delivery;
  const stored = await deps.deliveries
    .store(delivery)
    .catch(async (error: unknown) => {
      if (!isValueRefused(error)) throw error;
      // A number beyond what numeric holds, and whatever else nobody thought of: the bytes are kept, and a person looks.
      deps.log.warn({ err: error, source: name, event_id: event.eventId }, 'PostgreSQL refused a payload');
      return deps.deliveries.store(deliveryOf(false));
    })
    .catch((error: unknown): never => {
      deps.log.error({ err: error, source: name, event_id: event.eventId }, 'delivery not stored');
      throw new Problem('not_durable', 'The delivery is not stored. Send it again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    });
  handOver(deps, name, event.eventId, stored);
  return { duplicate: stored.duplicate, eventId: event.eventId, state: event.state };
}

function handOver(deps: ReceiverDeps, source: string, eventId: string, { handOver: to }: StoredDelivery): void {
  if (to !== null) deps.handOvers.start({ source, eventId, paymentId: to.paymentId, orderId: to.orderId });
}

function keptHeaders(headers: WebhookHeaders): string {
  const kept = Object.entries(headers).filter(([name]) => !UNKEPT_HEADERS.has(name));
  return cleanedJson(JSON.stringify(Object.fromEntries(kept)));
}

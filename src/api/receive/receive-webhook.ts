import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Pool } from '../../database/pool.ts';
import { isValueRefused } from '../../database/postgres-errors.ts';
import { type Delivery, storeDelivery, type StoredDelivery } from '../../database/store-delivery.ts';
import { admitEvent } from '../../domain/admit-event.ts';
import { cleanedJson, jsonDepth } from '../../domain/cleaned-text.ts';
import type { EventReading } from '../../domain/event-reading.ts';
import { InvalidSignature } from '../../domain/gateway-error.ts';
import type { Mode } from '../../domain/gateway-facts.ts';
import type { Policies } from '../../domain/policies.ts';
import { Problem } from '../../domain/problem.ts';
import type { Gateway, WebhookHeaders } from '../../gateways/gateway.ts';
import type { Logger } from '../../telemetry/log.ts';
import { readBody } from '../read-body.ts';
import type { HandOvers } from './hand-overs.ts';
import type { RefusalCounter } from './refusal-counter.ts';

/** A configured source as the receiver needs it. */
export interface Source {
  readonly gateway: Gateway;
  readonly mode: Mode;
}

export interface ReceiverDeps {
  readonly pool: Pool;
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
export const MOST_WEBHOOK_BYTES = 4 * 1024 * 1024;
/** No gateway nests beyond a dozen; thousands break `jsonb`, whose parser recurses. */
const DEEPEST_JSON = 512;
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
  { gateway, mode }: Source,
  body: Buffer,
): Promise<WebhookReceipt> {
  const reading = gateway.read(body, headers);
  const bodySha256 = createHash('sha256').update(body).digest();
  const payload = keptPayload(body);
  const deliveryOf = (json: string | null, headersText: string): Delivery => ({
    source: name,
    event: admit(deps, reading, mode, json !== null, bodySha256),
    body,
    bodySha256,
    payload: json,
    headers: headersText,
    remoteAddress,
  });
  const delivery = deliveryOf(payload, keptHeaders(headers));
  const stored = await storeDelivery(deps.pool, delivery)
    .catch(async (error: unknown) => {
      if (!isValueRefused(error)) throw error;
      deps.log.warn({ err: error, source: name, event_id: delivery.event.eventId }, 'PostgreSQL refused a payload');
      return storeDelivery(deps.pool, deliveryOf(null, '{}'));
    })
    .catch((error: unknown): never => {
      deps.log.error({ err: error, source: name, event_id: delivery.event.eventId }, 'delivery not stored');
      throw new Problem('not_durable', 'The delivery is not stored. Send it again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    });
  handOver(deps, name, delivery.event.eventId, stored);
  return { duplicate: stored.duplicate, eventId: delivery.event.eventId, state: delivery.event.state };
}

function admit(deps: ReceiverDeps, reading: EventReading, mode: Mode, isJson: boolean, bodySha256: Buffer) {
  return admitEvent({
    reading,
    sourceMode: mode,
    isJson,
    bodySha256Hex: bodySha256.toString('hex'),
    ignoreBefore: deps.policies.ignoreBefore,
    sha256Hex: (text) => createHash('sha256').update(text).digest('hex'),
  });
}

function handOver(deps: ReceiverDeps, source: string, eventId: string, { handOver: to }: StoredDelivery): void {
  if (to !== null) deps.handOvers.start({ source, eventId, paymentId: to.paymentId, orderId: to.orderId });
}

/** The body as JSON text that `jsonb` takes; null where it is no JSON. A BOM is no JSON either. */
function keptPayload(body: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    JSON.parse(text);
    return jsonDepth(text) > DEEPEST_JSON ? null : cleanedJson(text);
  } catch {
    return null;
  }
}

function keptHeaders(headers: WebhookHeaders): string {
  const kept = Object.entries(headers).filter(([name]) => !UNKEPT_HEADERS.has(name));
  return cleanedJson(JSON.stringify(Object.fromEntries(kept)));
}

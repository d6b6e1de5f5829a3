import { closeAlert, raiseAlert } from '../database/raise-alert.ts';
import type { Pool } from '../database/pool.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import { credentialsAlertKey } from '../domain/keys.ts';
import type { Gateway } from '../gateways/gateway.ts';

/** Refused reads are repeated for as long as it lasts: seeing it once a minute is enough. */
const SEEN_EVERY_MS = 60_000;

/**
 * A gateway that refuses our key refuses whatever is asked, and everything waits: people are told (F3), and told again that it came right
 * once every kind of read that was refused is answered. A process that has just started knows of no refusal, so that the first
 * answered read closes what others have left open.
 */
export function watchCredentials(pool: Pool, gateway: Gateway): Gateway {
  const { source } = gateway;
  const key = credentialsAlertKey(source);
  const refused = new Set<string>();
  let closed = false;
  let seenAt = Number.NEGATIVE_INFINITY;

  async function answered(call: string): Promise<void> {
    refused.delete(call);
    if (closed || refused.size > 0) return;
    await closeAlert(pool, key);
    closed = true;
  }

  async function failed(call: string, error: unknown): Promise<void> {
    if (!(error instanceof GatewayError) || error.code !== 'unauthorized') return;
    refused.add(call);
    if (performance.now() - seenAt < SEEN_EVERY_MS && !closed) return;
    closed = false;
    await raiseAlert(pool, { key, kind: 'credentials_refused', subject: { source } });
    seenAt = performance.now();
  }

  /** What the alert meets must not change what the read says: the next read raises or closes it. */
  async function watch<T>(call: string, read: () => Promise<T>): Promise<T> {
    try {
      const answer = await read();
      await answered(call).catch(() => undefined);
      return answer;
    } catch (error) {
      await failed(call, error).catch(() => undefined);
      throw error;
    }
  }

  return {
    ...gateway,
    fetchPayment: (id) => watch('fetchPayment', () => gateway.fetchPayment(id)),
    listRefunds: (id) => watch('listRefunds', () => gateway.listRefunds(id)),
    fetchDispute: (id) => watch('fetchDispute', () => gateway.fetchDispute(id)),
    listEvents: (listing) => watch('listEvents', () => gateway.listEvents(listing)),
    findRefunds: (id, reference) => watch('findRefunds', () => gateway.findRefunds(id, reference)),
    findPayments: (reference, orderId) => watch('findPayments', () => gateway.findPayments(reference, orderId)),
    findCharges: (...asked) => watch('findCharges', () => gateway.findCharges(...asked)),
    findPayouts: (...asked) => watch('findPayouts', () => gateway.findPayouts(...asked)),
    fetchPayout: (id) => watch('fetchPayout', () => gateway.fetchPayout(id)),
  };
}

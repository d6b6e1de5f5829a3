import { jsonText } from '../domain/json-text.ts';
import type { AnnouncedEvent } from './consumer.ts';

/** An announced event as it leaves the house: JSON text, the same in every try. Amounts are JSON integers of minor units. */
export function eventBody({ id, type, at, aggregateVersion, payload }: AnnouncedEvent): string {
  const data = Object.fromEntries(
    Object.entries(payload)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, name === 'amount' && typeof value === 'string' ? BigInt(value) : value]),
  );
  return jsonText({ id, type, timestamp: at.toISOString(), aggregate_version: aggregateVersion, data });
}

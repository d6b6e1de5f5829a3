import type { EventReading } from './event-reading.ts';
import { encodePart } from './keys.ts';

/**
 * The id of an event that came without one, from the fields that identify the fact (A4):
 * `{event_type}:{object_id}:{status}:{the gateway's own time, or the first 16 hex of the body's SHA-256}`. The object is
 * the refund, dispute or payout if the event is about one, else the payment; what is absent is `-`.
 */
export function derivedEventId(reading: EventReading, bodySha256Hex: string): string {
  const when = reading.occurredAt === null ? bodySha256Hex.slice(0, 16) : unixSeconds(reading.occurredAt);
  const parts = [reading.eventType, reading.objectId ?? reading.paymentId ?? '-', reading.claimed ?? '-', when];
  return parts.map(encodePart).join(':');
}

/** As gateways write it: Unix seconds, with a fraction only where there is one. */
function unixSeconds(milliseconds: number): string {
  return String(milliseconds / 1000);
}

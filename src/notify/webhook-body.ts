import { announcedData, isAnnouncementType } from '../domain/announcement-types.ts';
import { jsonText } from '../domain/json-text.ts';
import type { AnnouncedEvent } from '../domain/announced-event.ts';

/** An announced event as receivers of webhooks see it: JSON text, byte for byte the same in every try and for everyone. */
export function webhookBody({ id, type, at, aggregateVersion, payload }: AnnouncedEvent): string {
  if (!isAnnouncementType(type)) throw new Error(`${type} is no announcement.`);
  const data = announcedData(type, payload);
  return jsonText({ id, type, timestamp: at.toISOString(), aggregate_version: aggregateVersion, data });
}

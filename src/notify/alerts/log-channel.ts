import type { AlertChannel } from './alert-channel.ts';
import { alertText } from './alert-text.ts';

/** The log is told whatever else is configured. */
export function createLogChannel(write: (fields: Record<string, unknown>, message: string) => void): AlertChannel {
  return {
    name: 'log',
    send(message) {
      const { title, lines } = alertText(message);
      const { type, alerts } = message;
      write({ alert: type, count: alerts.length, ids: alerts.slice(0, 5).map(({ id }) => id), lines }, title);
      return Promise.resolve();
    },
  };
}

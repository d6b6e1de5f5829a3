import type { Mailer } from '../mail/create-mailer.ts';
import type { AlertChannel } from './alert-channel.ts';
import { alertText } from './alert-text.ts';

/** One mail to all of them. */
export function createEmailChannel(options: {
  readonly mailer: Mailer;
  readonly to: readonly string[];
  readonly now: () => number;
}): AlertChannel {
  return {
    name: 'email',
    async send(message, signal) {
      const { title, lines } = alertText(message);
      const { type, alerts } = message;
      await options.mailer.send(
        {
          to: options.to,
          subject: `[paidonce] ${title}`,
          text: [title, '', ...lines, ''].join('\n'),
          // The same message sent again keeps its name; a reminder a day later has another.
          name: `alert-${type}-${alerts[0]?.id ?? ''}-${alerts.at(-1)?.id ?? ''}-${new Date(options.now()).toISOString().slice(0, 10)}`,
          date: new Date(options.now()),
        },
        signal,
      );
    },
  };
}

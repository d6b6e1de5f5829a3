import type { Mailer } from '../mail/create-mailer.ts';
import type { AlertChannel } from './alert-channel.ts';
import { createEmailChannel } from './email-channel.ts';
import { createLogChannel } from './log-channel.ts';
import { createSlackChannel } from './slack-channel.ts';

export interface AlertSettings {
  readonly slackUrl: string | null;
  readonly email: readonly string[];
}

/** The log, and what is configured beside it; an address list without a mail server is refused by the configuration. */
export function createAlertChannels(
  { slackUrl, email }: AlertSettings,
  deps: {
    readonly mailer: Mailer | null;
    readonly log: (fields: Record<string, unknown>, message: string) => void;
    readonly now: () => number;
  },
): AlertChannel[] {
  const { mailer, log, now } = deps;
  return [
    createLogChannel(log),
    ...(slackUrl === null ? [] : [createSlackChannel({ url: slackUrl })]),
    ...(mailer === null || email.length === 0 ? [] : [createEmailChannel({ mailer, to: email, now })]),
  ];
}

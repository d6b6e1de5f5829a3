import { z } from 'zod';
import { DEFAULT_REMIND_AFTER_MS } from '../domain/plan-alerts.ts';
import { duration, url } from './settings.ts';

/** Who is told that something waits for a person. */
export const alertsSchema = z.strictObject(
  {
    slack_url: url(['http', 'https'], 'https://hooks.slack.com/services/…').nullish(),
    email: z
      .array(z.string().regex(/^[^\s@]+@[^\s@]+$/, { error: 'must be an e-mail address' }), {
        error: 'must be a list of e-mail addresses',
      })
      .nullish(),
    remind_after: duration().default(DEFAULT_REMIND_AFTER_MS),
  },
  { error: 'must be {slack_url: …, email: […], remind_after: …}' },
);

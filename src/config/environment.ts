import { z } from 'zod';
import { STANDARD_SECRET, duration, oneOf, text, url, wholeNumber } from './settings.ts';

const postgresUrl = () => url(['postgres', 'postgresql'], 'postgres://user:password@host:5432/paidonce');

/** What the environment may set; every name stands in .env.example. */
export const environmentSchema = z.object({
  DATABASE_URL: postgresUrl(),
  DATABASE_LISTEN_URL: postgresUrl().optional(),
  // Ten connections serve two processes of each kind well within PostgreSQL's default of 100.
  DATABASE_POOL_MAX: wholeNumber(1, 1000).default(10),
  DATABASE_PREPARED_STATEMENTS: oneOf(['auto', 'on', 'off']).default('auto'),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s/]+:\d{1,5}$/, { error: 'must be host:port, such as 127.0.0.1:7233' })
    .default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: text('the name of the namespace').default('default'),
  // Reachable from this machine alone until somebody decides otherwise.
  HOST: text('the address to listen on').default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(8080),
  RELAY_BATCH: wholeNumber(1, 10_000).default(100),
  // Short enough that nobody sees it when no notification comes, long enough to cost an idle database nothing.
  RELAY_POLL: duration(60_000).default(200),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  SMTP_URL: url(['smtp', 'smtps'], 'smtp://user:password@host:587').optional(),
  MAIL_FROM: text('the sender of receipts').default('paidonce <receipts@localhost>'),
  ALERT_SLACK_URL: url(['http', 'https'], 'https://hooks.slack.com/services/…').optional(),
  WORKFLOW_BUNDLE: text('the path of the bundled workflows').optional(),
  WORKER_METRICS_PORT: wholeNumber(0, 65_535).optional(),
  PAIDONCE_SIM_URL: url(['http', 'https'], 'http://127.0.0.1:8090').optional(),
  PAIDONCE_SIM_API_KEY: text("the simulator's API key").optional(),
  PAIDONCE_SIM_WEBHOOK_SECRET: z
    .string()
    .regex(STANDARD_SECRET, { error: 'must be whsec_ followed by base64' })
    .optional(),
});

export type Environment = z.infer<typeof environmentSchema>;

/** The variables that are set; `NAME=` with nothing behind it means unset, as in a copied .env.example. */
export function setVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return Object.fromEntries(entries);
}

import { readFileSync } from 'node:fs';
import { type Environment, environmentSchema, setVariables } from './config/environment.ts';
import { type FileSettings, fileSchema } from './config/file.ts';
import { ConfigError, type Mistake, mistakesOf } from './config/mistakes.ts';
import { readSettings } from './config/read-settings.ts';
import { sourceSchema, withoutEndingSlash } from './config/source.ts';
import { type AlertChannelName, DEFAULT_REMIND_AFTER_MS } from './domain/plan-alerts.ts';
import { DEFAULT_POLICIES, type Policies } from './domain/policies.ts';
import { STANDARD_EXTENSIONS, type SourceConfig } from './domain/source-config.ts';

export { ConfigError } from './config/mistakes.ts';
export { configWarnings } from './config/config-warnings.ts';
export { loadConfigOrExit } from './config/load-config-or-exit.ts';
export { summariseConfig } from './config/summarise-config.ts';

/** Every setting of a process, checked; see .env.example for where each comes from. */
export interface Config {
  readonly database: {
    readonly url: string;
    /** For LISTEN only, which a pooler in transaction mode cannot carry. */
    readonly listenUrl: string;
    readonly poolMax: number;
    /** Whether connections prepare their statements; `auto`: those that lead to PostgreSQL itself. */
    readonly prepared: 'auto' | 'on' | 'off';
  };
  readonly temporal: { readonly address: string; readonly namespace: string };
  readonly http: { readonly host: string; readonly port: number };
  readonly sources: readonly SourceConfig[];
  readonly policies: Policies;
  /** null: receipts are not sent, and the timeline says so. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | null;
  /** Networks in CIDR form that outgoing webhooks may reach although they are private. */
  readonly outgoing: { readonly allowNetworks: readonly string[] };
  /** Services of the operator's own that are told of events. */
  readonly sinks: readonly {
    readonly name: string;
    readonly url: string;
    readonly types: readonly string[];
    /** Sent as a bearer token. */
    readonly secret: string | null;
    readonly headers: Readonly<Record<string, string>>;
  }[];
  /** Who is told that something waits for a person; the log always is. */
  readonly alerts: {
    /** All that are told, the log first. */
    readonly channels: readonly AlertChannelName[];
    readonly slackUrl: string | null;
    readonly email: readonly string[];
    readonly remindAfterMs: number;
  };
  /** A file with the bundled workflows; null: the worker finds or bundles them itself. */
  readonly workflowBundle: string | null;
  /** Where a worker shows its counts; null: nowhere. */
  readonly workerMetrics: { readonly host: string; readonly port: number } | null;
  readonly relay: { readonly batch: number; readonly pollMs: number };
  readonly logLevel: Environment['LOG_LEVEL'];
}

const SIMULATOR = ['PAIDONCE_SIM_URL', 'PAIDONCE_SIM_API_KEY', 'PAIDONCE_SIM_WEBHOOK_SECRET'] as const;

/**
 * Reads the environment and the file that PAIDONCE_CONFIG names.
 *
 * @throws ConfigError that lists every mistake at once, each with the setting's path and what to do
 */
export function loadConfig(env: NodeJS.ProcessEnv, readFile = (path: string) => readFileSync(path, 'utf8')): Config {
  const variables = setVariables(env);
  const environment = environmentSchema.safeParse(variables);
  const file = readConfigFile(variables, readFile);
  const mistakes = [
    ...(environment.success ? [] : mistakesOf(environment.error)),
    ...simulatorMistakes(variables),
    ...file.mistakes,
    ...alertMistakes(file.settings, variables),
    ...nameMistakes(
      file.names,
      SIMULATOR.every((name) => Object.hasOwn(variables, name)),
    ),
  ];
  if (mistakes.length > 0 || !environment.success)
    throw new ConfigError(mistakes.map(({ path, advice }) => `${path}: ${advice}`));
  return assemble(environment.data, file.settings, file.sources);
}

interface ConfigFile {
  readonly settings: FileSettings;
  readonly sources: readonly SourceConfig[];
  /** The names of all sources as written, in order. */
  readonly names: readonly unknown[];
  readonly mistakes: readonly Mistake[];
}

function readConfigFile(variables: Record<string, string>, readFile: (path: string) => string): ConfigFile {
  const path = variables['PAIDONCE_CONFIG'];
  if (path === undefined) return { settings: {}, sources: [], names: [], mistakes: [] };
  let content: string;
  try {
    content = readFile(path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    const advice = `cannot read ${path} (${reason}); name a YAML or JSON file that this process may read`;
    return { settings: {}, sources: [], names: [], mistakes: [{ path: 'PAIDONCE_CONFIG', advice }] };
  }
  const { value, mistakes: unfilled } = readSettings(content, variables);
  const settings = fileSchema.safeParse(value);
  const listed = (value as { sources?: unknown } | null)?.sources;
  const entries: unknown[] = Array.isArray(listed) ? listed : [];
  const sources = entries.map((entry) => sourceSchema(entry).safeParse(entry));
  const unfilledPaths = new Set(unfilled.map((mistake) => mistake.path));
  const misshapen = [
    ...(settings.success ? [] : mistakesOf(settings.error)),
    ...sources.flatMap((source, index) => (source.success ? [] : mistakesOf(source.error, ['sources', index]))),
    // What is not filled in is of no form at all; saying so twice helps nobody.
  ].filter((mistake) => !unfilledPaths.has(mistake.path));
  return {
    settings: settings.success ? settings.data : {},
    sources: sources.flatMap((source) => (source.success ? [source.data] : [])),
    names: entries.map((entry) => (entry as { name?: unknown } | null)?.name),
    mistakes: [...unfilled, ...misshapen.map(({ path: at, advice }) => ({ path: at || 'PAIDONCE_CONFIG', advice }))],
  };
}

/** A source's name is part of every identity: two of one name would share their payments (A8). */
function nameMistakes(names: readonly unknown[], simulator: boolean): Mistake[] {
  return names.flatMap((name, index) => {
    if (typeof name !== 'string') return [];
    const path = `sources[${index}].name`;
    if (names.indexOf(name) < index)
      return [{ path, advice: `${name} is taken by another source; give each its own name` }];
    if (simulator && name === 'sim')
      return [{ path, advice: 'sim is the simulator that PAIDONCE_SIM_URL adds; take another name' }];
    return [];
  });
}

function simulatorMistakes(variables: Record<string, string>): Mistake[] {
  const missing = SIMULATOR.filter((name) => !Object.hasOwn(variables, name));
  if (missing.length === SIMULATOR.length) return [];
  return missing.map((path) => ({ path, advice: `is missing; set all of ${SIMULATOR.join(', ')}, or none` }));
}

function alertMistakes({ alerts, mail }: FileSettings, variables: Record<string, string>): Mistake[] {
  const unsent = (alerts?.email?.length ?? 0) > 0 && mail?.smtp_url == null && variables['SMTP_URL'] === undefined;
  return unsent ? [{ path: 'alerts.email', advice: 'needs a mail server; set mail.smtp_url or SMTP_URL' }] : [];
}

function assemble(env: Environment, settings: FileSettings, sources: readonly SourceConfig[]): Config {
  const smtpUrl = settings.mail?.smtp_url ?? env.SMTP_URL;
  return {
    database: {
      url: env.DATABASE_URL,
      listenUrl: env.DATABASE_LISTEN_URL ?? env.DATABASE_URL,
      poolMax: env.DATABASE_POOL_MAX,
      prepared: env.DATABASE_PREPARED_STATEMENTS,
    },
    temporal: { address: env.TEMPORAL_ADDRESS, namespace: env.TEMPORAL_NAMESPACE },
    http: { host: env.HOST, port: env.PORT },
    sources: [...sources, ...simulatorSource(env)],
    policies: settings.policies ?? DEFAULT_POLICIES,
    mail: smtpUrl === undefined ? null : { smtpUrl, from: settings.mail?.from ?? env.MAIL_FROM },
    outgoing: { allowNetworks: settings.outgoing?.allow_networks ?? [] },
    sinks: settings.sinks ?? [],
    alerts: assembleAlerts(env, settings),
    workflowBundle: env.WORKFLOW_BUNDLE ?? null,
    workerMetrics: env.WORKER_METRICS_PORT === undefined ? null : { host: env.HOST, port: env.WORKER_METRICS_PORT },
    relay: { batch: env.RELAY_BATCH, pollMs: env.RELAY_POLL },
    logLevel: env.LOG_LEVEL,
  };
}

function assembleAlerts(env: Environment, { alerts }: FileSettings): Config['alerts'] {
  const slackUrl = alerts?.slack_url ?? env.ALERT_SLACK_URL ?? null;
  const email = alerts?.email ?? [];
  return {
    channels: [
      'log',
      ...(slackUrl === null ? [] : ['slack' as const]),
      ...(email.length === 0 ? [] : ['email' as const]),
    ],
    ...{ slackUrl, email, remindAfterMs: alerts?.remind_after ?? DEFAULT_REMIND_AFTER_MS },
  };
}

function simulatorSource(env: Environment): SourceConfig[] {
  const { PAIDONCE_SIM_URL: url, PAIDONCE_SIM_API_KEY: apiKey, PAIDONCE_SIM_WEBHOOK_SECRET: secret } = env;
  if (url === undefined || apiKey === undefined || secret === undefined) return [];
  return [
    {
      name: 'sim',
      kind: 'standard',
      mode: 'test',
      apiBase: withoutEndingSlash(url),
      apiKey,
      accountNumber: null,
      webhookSecrets: [{ secret, eventsBefore: null }],
      extensions: STANDARD_EXTENSIONS,
    },
  ];
}

import { z } from 'zod';
import { STANDARD_EXTENSIONS, type SourceConfig, type StandardExtension } from '../domain/source-config.ts';
import { STANDARD_SECRET, moment, oneOf, text, url } from './settings.ts';

const apiBase = () => url(['http', 'https'], 'https://gateway.example');

interface KindRules {
  readonly api_base: z.ZodType<string | null | undefined>;
  readonly api_key: z.ZodType<string>;
  readonly account_number: z.ZodType<string | null | undefined>;
  readonly extensions: z.ZodType<StandardExtension[] | null | undefined>;
  readonly secret: z.ZodType<string>;
}

const KINDS = ['stripe', 'razorpay', 'standard'] as const;

/** What the gateways ask for differently; all else is the same for each. */
const BY_KIND: Record<(typeof KINDS)[number], KindRules> = {
  stripe: {
    api_base: apiBase().nullish(),
    api_key: text('the API key'),
    account_number: noAccountNumber(),
    extensions: noExtensions(),
    secret: text('the webhook secret'),
  },
  razorpay: {
    api_base: apiBase().nullish(),
    api_key: z
      .string({ error: 'is missing; give key_id:key_secret' })
      .regex(/^[^:]+:.+$/, { error: 'must be key_id:key_secret' }),
    account_number: text('the account number').nullish(),
    extensions: noExtensions(),
    secret: text('the webhook secret'),
  },
  standard: {
    // Nobody's public address could stand in: the protocol is spoken by in-house gateways.
    api_base: apiBase(),
    api_key: text('the API key'),
    account_number: noAccountNumber(),
    extensions: z.array(oneOf(STANDARD_EXTENSIONS), { error: 'must be a list of capture, void' }).nullish(),
    secret: z
      .string({ error: 'is missing; give whsec_ followed by base64' })
      .regex(STANDARD_SECRET, { error: 'must be whsec_ followed by base64' }),
  },
};

function noAccountNumber() {
  return z.null({ error: 'only razorpay has one; remove it' }).optional();
}

function noExtensions() {
  return z.null({ error: 'only standard has them; remove it' }).optional();
}

/**
 * One entry of `sources`. The schema is chosen by the entry's own kind, so that a wrong value in one setting hides no mistake
 * in another; an entry of an unknown kind is held to what is common to all.
 */
export function sourceSchema(entry: unknown) {
  const named = (entry as { kind?: unknown } | null)?.kind;
  const { secret, ...rules } = BY_KIND[KINDS.find((kind) => kind === named) ?? 'stripe'];
  const webhookSecret = z.strictObject(
    { secret, events_before: moment().nullish() },
    { error: 'must be {secret: …, events_before: …}' },
  );
  return z
    .strictObject(
      {
        name: z
          .string({ error: 'is missing; give the source a name' })
          .regex(/^[a-z0-9-]{1,32}$/, { error: 'must be 1 to 32 of a-z, 0-9 and "-"' })
          // Events of that source would share their ids with our own (C1).
          .refine((name) => name !== 'outbox', {
            error: 'is taken: our own events are called outbox:…; choose another',
          }),
        kind: oneOf(KINDS),
        mode: oneOf(['test', 'live']),
        ...rules,
        webhook_secrets: z.array(webhookSecret, { error: 'is missing; give a list of {secret: …}' }).min(1, {
          error: 'is empty; give at least one {secret: …}',
        }),
      },
      { error: 'must be {name: …, kind: …, mode: …, api_key: …, webhook_secrets: …}' },
    )
    .transform((source): SourceConfig => ({
      name: source.name,
      kind: source.kind,
      mode: source.mode,
      apiBase: withoutEndingSlash(source.api_base ?? null),
      apiKey: source.api_key,
      accountNumber: source.account_number ?? null,
      ...(source.extensions == null ? {} : { extensions: source.extensions }),
      webhookSecrets: source.webhook_secrets.map((one) => ({
        secret: one.secret,
        eventsBefore: one.events_before ?? null,
      })),
    }));
}

/** Callers append paths that begin with a slash. */
export function withoutEndingSlash<T extends string | null>(address: T): T {
  return (address?.replace(/\/+$/, '') ?? null) as T;
}

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError, configWarnings, loadConfig, summariseConfig } from '../../src/config.ts';
import { environmentSchema } from '../../src/config/environment.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';

const DATABASE_URL = 'postgres://paidonce:hunter2@db.internal:5432/paidonce';
const SECRET = `whsec_${Buffer.from('a secret of the simulator').toString('base64')}`;
const SIM = {
  PAIDONCE_SIM_URL: 'http://127.0.0.1:8090/',
  PAIDONCE_SIM_API_KEY: 'sim-key',
  PAIDONCE_SIM_WEBHOOK_SECRET: SECRET,
};

function load(file: string | null, env: NodeJS.ProcessEnv = {}) {
  const named = file === null ? {} : { PAIDONCE_CONFIG: 'paidonce.yaml' };
  return loadConfig({ DATABASE_URL, ...named, ...env }, () => file ?? '');
}

function mistakes(file: string | null, env: NodeJS.ProcessEnv = {}): readonly string[] {
  try {
    load(file, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}

const source = (lines: string) => `sources:\n  - ${lines.trim().split('\n').join('\n    ')}\n`;

const STRIPE = `name: stripe
kind: stripe
mode: test
api_key: sk_test_1
webhook_secrets: [{secret: whsec_as-is}]`;

const INHOUSE = `name: inhouse
kind: standard
mode: test
api_base: https://gateway.example
api_key: key
webhook_secrets: [{secret: ${SECRET}}]`;

describe('the environment', () => {
  it('needs the database only; every other setting has its default', () => {
    expect(load(null)).toEqual({
      database: { url: DATABASE_URL, listenUrl: DATABASE_URL, poolMax: 10, prepared: 'auto' },
      temporal: { address: '127.0.0.1:7233', namespace: 'default' },
      http: { host: '127.0.0.1', port: 8080 },
      sources: [],
      policies: DEFAULT_POLICIES,
      mail: null,
      outgoing: { allowNetworks: [] },
      sinks: [],
      alerts: { channels: ['log'], slackUrl: null, email: [], remindAfterMs: 4 * 3_600_000 },
      workflowBundle: null,
      workerMetrics: null,
      relay: { batch: 100, pollMs: 200 },
      logLevel: 'info',
    });
  });

  it('sets what it names', () => {
    const config = load(null, {
      DATABASE_LISTEN_URL: 'postgres://direct:5432/paidonce',
      DATABASE_POOL_MAX: '25',
      DATABASE_PREPARED_STATEMENTS: 'on',
      TEMPORAL_ADDRESS: 'temporal.internal:7233',
      TEMPORAL_NAMESPACE: 'payments',
      HOST: '0.0.0.0',
      PORT: '0',
      RELAY_BATCH: '10',
      RELAY_POLL: '50ms',
      LOG_LEVEL: 'debug',
      SMTP_URL: 'smtp://mail.internal:587',
      MAIL_FROM: 'Shop <shop@example.org>',
    });
    expect(config).toMatchObject({
      database: { url: DATABASE_URL, listenUrl: 'postgres://direct:5432/paidonce', poolMax: 25, prepared: 'on' },
      temporal: { address: 'temporal.internal:7233', namespace: 'payments' },
      http: { host: '0.0.0.0', port: 0 },
      mail: { smtpUrl: 'smtp://mail.internal:587', from: 'Shop <shop@example.org>' },
      relay: { batch: 10, pollMs: 50 },
      logLevel: 'debug',
    });
  });

  it('a variable with nothing behind it is unset, as in a copied example', () => {
    expect(load(null, { PORT: '', SMTP_URL: '', LOG_LEVEL: '' })).toMatchObject({
      http: { port: 8080 },
      mail: null,
      logLevel: 'info',
    });
  });

  it.each(['abc', ' ', '80a', '-1', '1e3', '0x50', '1.5', '65536', 'NaN'])(
    'a port of "%s" is a mistake, not the default',
    (PORT) => {
      expect(mistakes(null, { PORT })).toEqual(['PORT: must be a whole number from 0 to 65535']);
    },
  );

  it('lists every mistake at once, and repeats no value', () => {
    const found = mistakes(null, {
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      DATABASE_POOL_MAX: 'ten',
      TEMPORAL_ADDRESS: 'no port',
      RELAY_BATCH: '0',
      RELAY_POLL: '2h',
      LOG_LEVEL: 'loud',
      SMTP_URL: 'mail.internal',
    });
    expect(found.map((mistake) => mistake.split(':')[0])).toEqual([
      'DATABASE_URL',
      'DATABASE_POOL_MAX',
      'TEMPORAL_ADDRESS',
      'RELAY_BATCH',
      'RELAY_POLL',
      'LOG_LEVEL',
      'SMTP_URL',
    ]);
    expect(found.join()).not.toContain('hunter2');
  });

  it('says how many mistakes there are and what to do', () => {
    expect(() => loadConfig({ PORT: 'x' })).toThrow(
      /^2 mistakes in the configuration:\n {2}- DATABASE_URL: is missing; set it to a URL such as postgres:.*\n {2}- PORT: must be a whole number/,
    );
  });

  it('is described in .env.example, every setting of it', () => {
    const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
    for (const name of Object.keys(environmentSchema.shape)) expect(example).toMatch(new RegExp(`^#.*\n${name}=`, 'm'));
  });

  it('the three settings of the simulator make the source sim, and fewer are a mistake each', () => {
    expect(load(null, SIM).sources).toEqual([
      {
        name: 'sim',
        kind: 'standard',
        mode: 'test',
        apiBase: 'http://127.0.0.1:8090',
        apiKey: 'sim-key',
        accountNumber: null,
        webhookSecrets: [{ secret: SECRET, eventsBefore: null }],
        extensions: ['capture', 'void'],
      },
    ]);
    expect(mistakes(null, { PAIDONCE_SIM_URL: SIM.PAIDONCE_SIM_URL })).toEqual([
      expect.stringMatching(/^PAIDONCE_SIM_API_KEY: is missing/),
      expect.stringMatching(/^PAIDONCE_SIM_WEBHOOK_SECRET: is missing/),
    ]);
    expect(mistakes(null, { ...SIM, PAIDONCE_SIM_WEBHOOK_SECRET: 'plain' })).toEqual([
      'PAIDONCE_SIM_WEBHOOK_SECRET: must be whsec_ followed by base64',
    ]);
  });
});

describe('the file', () => {
  const FULL = `
sources:
  - name: stripe              # a comment with \${NOTHING} in it
    kind: stripe
    mode: test
    api_base: http://127.0.0.1:12111/
    api_key: \${STRIPE_API_KEY}
    webhook_secrets: [{secret: "\${STRIPE_WEBHOOK_SECRET}"}, {secret: "old", events_before: 2026-11-01T00:00:00Z}]
  - name: razorpay
    kind: razorpay
    mode: live
    api_key: rzp_live_1:secret:with:colons
    account_number: "0023232300416269"
    webhook_secrets: [{secret: plain}]
policies: {late_capture: review, dispute_lost: revoke, order_wait: 12h, webhook_tolerance: 300s, missing_webhook_after: 90s, idempotency_lease: 2m, unknown_settle: 250ms, loyalty_points_per_major_unit: 0.5, ignore_before: 2026-01-01T00:00:00+01:00}
mail: {smtp_url: \${SMTP_URL}, from: shop@example.org}
outgoing: {allow_networks: [127.0.0.0/8, "::1/128"]}
`;
  const VARIABLES = {
    STRIPE_API_KEY: 'sk_test_{"}: x',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
    SMTP_URL: 'smtp://127.0.0.1:1025',
  };

  it('sets sources, policies, mail and networks, with variables filled in', () => {
    expect(load(FULL, VARIABLES)).toMatchObject({
      sources: [
        {
          name: 'stripe',
          kind: 'stripe',
          mode: 'test',
          apiBase: 'http://127.0.0.1:12111',
          apiKey: 'sk_test_{"}: x',
          accountNumber: null,
          webhookSecrets: [
            { secret: 'whsec_1', eventsBefore: null },
            { secret: 'old', eventsBefore: Date.UTC(2026, 10, 1) },
          ],
        },
        {
          name: 'razorpay',
          mode: 'live',
          apiBase: null,
          apiKey: 'rzp_live_1:secret:with:colons',
          accountNumber: '0023232300416269',
        },
      ],
      policies: {
        lateCapture: 'review',
        disputeLost: 'revoke',
        orderWaitMs: 12 * 3_600_000,
        webhookToleranceMs: 300_000,
        missingWebhookAfterMs: 90_000,
        idempotencyLeaseMs: 120_000,
        unknownSettleMs: 250,
        loyaltyPointsPerMajorUnit: 0.5,
        ignoreBefore: Date.UTC(2025, 11, 31, 23),
      },
      mail: { smtpUrl: 'smtp://127.0.0.1:1025', from: 'shop@example.org' },
      outgoing: { allowNetworks: ['127.0.0.0/8', '::1/128'] },
    });
  });

  it('may be JSON, indented by tabs too', () => {
    const json = JSON.stringify(
      { outgoing: { allow_networks: ['10.0.0.0/8'] }, mail: { smtp_url: '${SMTP_URL}' } },
      null,
      '\t',
    );
    expect(load(json, VARIABLES)).toMatchObject({
      outgoing: { allowNetworks: ['10.0.0.0/8'] },
      mail: { smtpUrl: 'smtp://127.0.0.1:1025' },
    });
  });

  it('may be empty, and what is left out keeps its default', () => {
    expect(load('').policies).toEqual(DEFAULT_POLICIES);
    expect(load('policies: {order_wait: 7d}').policies).toEqual({ ...DEFAULT_POLICIES, orderWaitMs: 7 * 86_400_000 });
  });

  it('names the calls beyond the protocol that a standard gateway knows; without them it knows none', () => {
    expect(load(source(`${INHOUSE}\nextensions: [void]`)).sources[0]?.extensions).toEqual(['void']);
    expect(load(source(INHOUSE)).sources[0]?.extensions).toBeUndefined();
  });

  it('stands beside the simulator', () => {
    expect(load(source(STRIPE), SIM).sources.map(({ name }) => name)).toEqual(['stripe', 'sim']);
  });

  it('without SMTP_URL sends no mail, whether the file or the environment would have named it', () => {
    expect(load('mail: {smtp_url: ${SMTP_URL}, from: shop@example.org}').mail).toBeNull();
    expect(
      load('mail: {from: shop@example.org}', { SMTP_URL: 'smtp://127.0.0.1', ALERT_SLACK_URL: 'http://127.0.0.1/' })
        .mail,
    ).toEqual({
      smtpUrl: 'smtp://127.0.0.1',
      from: 'shop@example.org',
    });
  });

  it('lists the mistakes of the environment and of every source at once, each by its path', () => {
    const file = `
sources:
  - {name: Stripe!, kind: stripe, mode: prod, api_key: \${STRIPE_API_KEY}, webhook_secrets: []}
  - {name: rzp, kind: razorpay, mode: test, api_key: no-colon, account_number: 2323230041626905, webhook_secrets: [{secret: x, events_before: yesterday}]}
  - {name: rzp, kind: standard, mode: test, api_key: k, webhook_secrets: [{secret: plain}, {secrets: whsec_AAAA}]}
  - {name: sim, kind: paypal, mode: test, api_key: k, webhook_secrets: [{secret: x}], colour: red}
policies: {late_capture: keep, order_wait: 1 day, loyalty_points_per_major_unit: -1}
outgoing: {allow_networks: [127.0.0.1, 10.0.0.0/33]}
retries: 3
`;
    expect(mistakes(file, { ...SIM, PORT: 'x' })).toEqual([
      'PORT: must be a whole number from 0 to 65535',
      'sources[0].api_key: the environment variable STRIPE_API_KEY is not set; set it',
      'policies.late_capture: must be one of refund, review',
      expect.stringMatching(/^policies\.order_wait: must be a duration such as 24h/),
      'policies.loyalty_points_per_major_unit: must be a number of 0 or more',
      'outgoing.allow_networks[0]: must be a network such as 127.0.0.0/8 or ::1/128',
      'outgoing.allow_networks[1]: must be a network such as 127.0.0.0/8 or ::1/128',
      'retries: there is no such setting; correct its name or remove it',
      'sources[0].name: must be 1 to 32 of a-z, 0-9 and "-"',
      'sources[0].mode: must be one of test, live',
      'sources[0].webhook_secrets: is empty; give at least one {secret: …}',
      'sources[1].api_key: must be key_id:key_secret',
      'sources[1].account_number: must be text; put the account number in quotes',
      'sources[1].webhook_secrets[0].events_before: must be a moment with its zone, such as 2026-11-01T00:00:00Z',
      'sources[2].api_base: is missing; set it to a URL such as https://gateway.example',
      'sources[2].webhook_secrets[0].secret: must be whsec_ followed by base64',
      'sources[2].webhook_secrets[1].secret: is missing; give whsec_ followed by base64',
      'sources[2].webhook_secrets[1].secrets: there is no such setting; correct its name or remove it',
      'sources[3].kind: must be one of stripe, razorpay, standard',
      'sources[3].colour: there is no such setting; correct its name or remove it',
      'sources[2].name: rzp is taken by another source; give each its own name',
      'sources[3].name: sim is the simulator that PAIDONCE_SIM_URL adds; take another name',
    ]);
  });

  it('that cannot be read or understood is one mistake beside the others', () => {
    const env = { DATABASE_URL, PORT: 'x', PAIDONCE_CONFIG: '/nowhere/paidonce.yaml' };
    expect(() => loadConfig(env)).toThrow(
      /PORT: [^]*PAIDONCE_CONFIG: cannot read \/nowhere\/paidonce\.yaml \(ENOENT\)/,
    );
    expect(mistakes('api_key: "sk_live_1\nmail: {')).toEqual([
      expect.stringMatching(/^PAIDONCE_CONFIG: .* at line \d+, column \d+/),
    ]);
    expect(mistakes('just a sentence')).toEqual([
      'PAIDONCE_CONFIG: must hold sources, policies, mail, outgoing, sinks and alerts',
    ]);
    expect(mistakes(source(STRIPE.replace('sk_test_1', '${KEY:-none}')))).toEqual([
      'sources[0].api_key: only ${NAME} is understood, of letters, digits and "_"',
    ]);
  });

  it.each([
    ['sources: stripe', 'sources: must be a list'],
    ['sources: [stripe]', 'sources[0]: must be {name: …, kind: …, mode: …, api_key: …, webhook_secrets: …}'],
    ['policies: {webhook_tolerance: 300}', 'policies.webhook_tolerance: must be a duration'],
    ['policies: {missing_webhook_after: 31m}', 'policies.missing_webhook_after: must be a duration'],
    ['policies: {order_wait: 0s}', 'policies.order_wait: must be a duration'],
    [source(STRIPE.replace('sk_test_1', '1234')), 'sources[0].api_key: must be text; put the API key in quotes'],
    [source(`${STRIPE}\naccount_number: "1"`), 'sources[0].account_number: only razorpay has one; remove it'],
    [source(`${STRIPE}\nextensions: [void]`), 'sources[0].extensions: only standard has them; remove it'],
    [source(`${INHOUSE}\nextensions: [charge]`), 'sources[0].extensions[0]: must be one of capture, void'],
    [source(`${INHOUSE}\nextensions: void`), 'sources[0].extensions: must be a list of capture, void'],
    [source(`${STRIPE}\napi_base: ftp://x`), 'sources[0].api_base: must be a URL such as https://gateway.example'],
  ])('%j is refused with advice', (file, advice) => {
    expect(mistakes(file)).toEqual([expect.stringContaining(advice)]);
  });
});

describe('what the start log says', () => {
  const config = load(source(STRIPE), {
    ...{ ...SIM, DATABASE_LISTEN_URL: `${DATABASE_URL}?password=hunter3` },
    ...{ SMTP_URL: 'smtp://robot:hunter4@mail.internal:587', ALERT_SLACK_URL: 'https://hooks.slack.example/hunter5' },
  });

  it('the summary holds addresses and names, and no secret', () => {
    const summary = JSON.stringify(summariseConfig(config));
    expect(summary).toContain('postgres://db.internal:5432/paidonce');
    expect(summary).toContain('smtp://mail.internal:587');
    expect(summary).toContain('"name":"stripe"');
    for (const secret of ['hunter', 'sk_test_1', 'whsec_', 'sim-key']) expect(summary).not.toContain(secret);
  });

  it('warns of what works but is probably not meant', () => {
    expect(configWarnings(config)).toEqual([]);
    expect(configWarnings(load(null))).toEqual([
      expect.stringMatching(/^no source is configured/),
      expect.stringMatching(/^no SMTP_URL/),
      expect.stringMatching(/^no alerts\.slack_url/),
    ]);
    const odd = `${source(STRIPE.replace('mode: test', 'mode: live'))}policies: {idempotency_lease: 5s}`;
    expect(configWarnings(load(odd, { SMTP_URL: 'smtp://127.0.0.1', ALERT_SLACK_URL: 'http://127.0.0.1/' }))).toEqual([
      'source stripe is in live mode, but its API key is for test mode',
      expect.stringMatching(/^policies\.idempotency_lease is not longer/),
    ]);
  });
});

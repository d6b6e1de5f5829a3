import { Command, InvalidArgumentError } from 'commander';
import { findApiClient } from '../database/find-api-client.ts';
import { API_SCOPES, rotateApiKey, type ApiScope } from '../database/rotate-api-key.ts';
import { CommandError, EXIT } from './command-error.ts';
import { print, printJson } from './output.ts';
import { databaseUrl } from './settings.ts';
import { withPool } from './with-pool.ts';

const NAME = /^[a-z0-9-]{1,64}$/;
const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

export function keysCommand(): Command {
  return new Command('keys')
    .description('API keys of the services that use the API')
    .addCommand(
      new Command('create')
        .description('make a client and its first key, which is shown this once')
        .requiredOption('--client <name>', 'the service that will use it: a–z, 0–9 and -', clientName)
        .requiredOption('--scopes <scopes>', `what it may do, separated by commas: ${API_SCOPES.join(', ')}`, scopeList)
        .option('--json', 'answer as JSON')
        .action(async ({ client, scopes, json = false }: { client: string; scopes: ApiScope[]; json?: boolean }) => {
          const url = databaseUrl();
          const known = await withPool(url, (pool) => findApiClient(pool, client));
          if (known !== null) {
            throw new CommandError(
              `There is a client ${client} already (${known.scopes.join(', ')}): npx paidonce keys rotate --client ${client} makes it a new key.`,
              EXIT.no,
            );
          }
          const key = await rotateApiKey(url, { client, scopes });
          if (json) printJson({ client, scopes, key });
          else print(`${key}\nThe key of ${client} (${scopes.join(', ')}). It is shown this once.`);
        }),
    )
    .addCommand(
      new Command('rotate')
        .description('make a new key for a client; its older keys go on for the overlap')
        .requiredOption('--client <name>', 'the service that uses it', clientName)
        .option('--overlap <duration>', 'how long older keys go on: 0s, 30m, 24h, 7d', overlapSeconds, 24 * SECONDS.h)
        .option('--json', 'answer as JSON')
        .action(async ({ client, overlap, json = false }: { client: string; overlap: number; json?: boolean }) => {
          const url = databaseUrl();
          const known = await withPool(url, (pool) => findApiClient(pool, client));
          if (known === null) {
            throw new CommandError(`There is no client ${client}: npx paidonce keys create makes one.`, EXIT.no);
          }
          const key = await rotateApiKey(url, { client, scopes: null, overlapSeconds: overlap });
          const end = new Date(Date.now() + overlap * 1_000).toISOString();
          if (json) printJson({ client, scopes: known.scopes, key, older_keys_end_at: end });
          else print(`${key}\nThe new key of ${client}. It is shown this once; older keys end at ${end}.`);
        }),
    );
}

function clientName(value: string): string {
  if (!NAME.test(value)) throw new InvalidArgumentError('1–64 of a–z, 0–9 and -.');
  return value;
}

function scopeList(value: string): ApiScope[] {
  const scopes = value.split(',').map((scope) => scope.trim());
  const known = API_SCOPES.filter((scope) => scopes.includes(scope));
  if (known.length !== new Set(scopes).size) throw new InvalidArgumentError(`Scopes are ${API_SCOPES.join(', ')}.`);
  return known;
}

function overlapSeconds(value: string): number {
  const [, digits, unit] = /^(\d{1,6})([smhd])$/.exec(value) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('A duration such as 0s, 30m, 24h or 7d.');
  return Number(digits) * SECONDS[unit as keyof typeof SECONDS];
}

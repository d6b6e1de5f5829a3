import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { CommandError } from './command-error.ts';

/** What a running `npm start` says of itself, as far as commands need it. */
const devFileSchema = z.object({
  api_url: z.string(),
  api_key: z.string(),
  database_url: z.string(),
  simulator_url: z.string(),
  sources: z.object({ sim: z.object({ webhook_secret: z.string() }) }),
});
export type DevFile = z.infer<typeof devFileSchema>;

const DEV_FILE = join('.paidonce', 'dev.json');

/** The stack that runs in this folder; null where none does. */
function readDevFile(): DevFile | null {
  let text: string;
  try {
    text = readFileSync(DEV_FILE, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandError(`${resolve(DEV_FILE)} cannot be read: ${(error as Error).message}.`);
  }
  const file = devFileSchema.safeParse(parsed(text));
  if (!file.success) throw new CommandError(`${resolve(DEV_FILE)} is damaged: stop npm start and start it again.`);
  return file.data;
}

/** The stack that runs in this folder, for commands that need one. */
export function requireDevFile(): DevFile {
  const file = readDevFile();
  if (file === null) {
    throw new CommandError(`No stack runs here (${resolve(DEV_FILE)} is missing): run npm start in this folder first.`);
  }
  return file;
}

/** The database that commands work on: the running stack's, else the environment's. */
export function databaseUrl(): string {
  return chosen('DATABASE_URL', readDevFile()?.database_url, 'database');
}

/** The API that commands ask: the running stack's, else the environment's. */
export function apiAccess(): { readonly url: string; readonly key: string } {
  const file = readDevFile();
  return {
    url: chosen('PAIDONCE_API_URL', file?.api_url, 'API').replace(/\/+$/, ''),
    key: chosen('PAIDONCE_API_KEY', file?.api_key, 'API key'),
  };
}

function chosen(variable: string, fromFile: string | undefined, what: string): string {
  const fromEnvironment = process.env[variable] ?? '';
  if (fromFile !== undefined) {
    // Whoever set it meant another one than is used.
    if (fromEnvironment !== '' && fromEnvironment !== fromFile) {
      process.stderr.write(`Using the ${what} of ${DEV_FILE}; ${variable} names another one and is not used.\n`);
    }
    return fromFile;
  }
  if (fromEnvironment !== '') return fromEnvironment;
  throw new CommandError(`Nothing says which ${what} to use: run npm start in this folder, or set ${variable}.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

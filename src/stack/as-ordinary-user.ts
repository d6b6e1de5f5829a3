import { chown, lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runOnce } from './run-once.ts';
import { StartError } from './start-error.ts';

export interface OrdinaryUser {
  /** Goes before the command and its arguments; empty where we are no root to begin with. */
  readonly prefix: readonly string[];
  /** Who must own what the command writes; null: whoever owns it now. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

const PROBE_MS = 10_000;

/**
 * PostgreSQL refuses to run as root. Two ways make it an ordinary user without an account being created and without any
 * folder being opened up to others, so that a clone below a 0700 folder works as well as any:
 *
 * - a user namespace, in which root outside is an ordinary user inside;
 * - where containers forbid those, an existing account of the system that keeps only the right to pass closed folders.
 *   (`no_setuid_fixup` makes the kernel honour that right in access(2) as well, which initdb uses to find its binaries.)
 *
 * Throws a StartError where neither is to be had.
 */
export async function asOrdinaryUser(): Promise<OrdinaryUser> {
  if (process.getuid?.() !== 0) return { prefix: [], owner: null };
  const account = await systemAccount();
  const ids = { uid: String(account.uid), gid: String(account.gid) };
  const namespace = ['unshare', '--user', `--map-user=${ids.uid}`, `--map-group=${ids.gid}`, '--'];
  if (await works(namespace)) return { prefix: namespace, owner: { uid: 0, gid: 0 } };
  const rights = '-all,+dac_override,+dac_read_search';
  const demotion = [
    'setpriv',
    `--reuid=${ids.uid}`,
    `--regid=${ids.gid}`,
    '--clear-groups',
    '--securebits=+no_setuid_fixup',
  ];
  const demoted = [...demotion, `--inh-caps=${rights}`, `--ambient-caps=${rights}`, '--'];
  if (await works(demoted)) return { prefix: demoted, owner: account };
  throw new StartError(
    'PostgreSQL does not run as root, and this system allows neither a user namespace (unshare) nor a change of user (setpriv): run npm start as an ordinary user, or set DATABASE_URL.',
  );
}

async function works(prefix: readonly string[]): Promise<boolean> {
  const [command = '', ...rest] = prefix;
  const answer = await runOnce(command, [...rest, 'id', '-u'], { timeoutMs: PROBE_MS });
  return answer.ok && answer.output.trim() !== '0';
}

/** initdb wants a name for its user id, so it must be one of the system's own accounts; `nobody` owns nothing anywhere. */
async function systemAccount(): Promise<{ uid: number; gid: number }> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'daemon', 'nobody']) {
    const line = lines.find((fields) => fields[0] === name);
    if (line !== undefined) return { uid: Number(line[2]), gid: Number(line[3]) };
  }
  throw new StartError(
    'PostgreSQL does not run as root, and /etc/passwd names no other account it could use: run npm start as an ordinary user.',
  );
}

/** Hands a folder and all that lies in it to its owner, if it is not theirs yet. */
export async function ensureOwner(path: string, owner: OrdinaryUser['owner']): Promise<void> {
  if (owner === null || (await lstat(path)).uid === owner.uid) return;
  for (const entry of await readdir(path, { recursive: true })) await chown(join(path, entry), owner.uid, owner.gid);
  await chown(path, owner.uid, owner.gid);
}

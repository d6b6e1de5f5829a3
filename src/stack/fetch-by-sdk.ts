import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fetched } from './find-temporal-program.ts';
import { runOnce } from './run-once.ts';
import type { TemporalProgram } from './temporal-programs.ts';

const DOWNLOADER = fileURLToPath(new URL('./download-by-sdk.ts', import.meta.url));
// Where Node looks for tsx.
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
// About 100 MB over a slow line; a machine without a network answers at once.
const DOWNLOAD_MS = 300_000;

/** Lets the Temporal SDK download a program; it knows the newest version that was tested with it. */
export async function fetchBySdk(program: TemporalProgram, scratch: string, signal?: AbortSignal): Promise<Fetched> {
  const args = ['--import', 'tsx', DOWNLOADER, program.name, scratch];
  const answer = await runOnce(process.execPath, args, {
    cwd: PROJECT,
    timeoutMs: DOWNLOAD_MS,
    ...(signal === undefined ? {} : { signal }),
  });
  const files = await readdir(scratch);
  for (const name of answer.ok ? files : []) {
    // The SDK names the file as it likes; it is the one thing in the folder that can be run.
    const file = join(scratch, name);
    const kind = await stat(file);
    if (kind.isFile() && (kind.mode & 0o100) !== 0) return { file };
  }
  // Its message is a chain of causes; the last one is what happened.
  const message = /^\[?\w*Error: (.*)\]?$/m.exec(answer.output)?.[1]?.replace(/\]$/, '');
  return { reason: `the Temporal SDK's download: ${message?.split(': ').at(-1) ?? 'no answer'}` };
}

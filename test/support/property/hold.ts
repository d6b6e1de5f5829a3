import fc from 'fast-check';
import { openSystem } from '../system.ts';
import { command } from './commands.ts';
import { play, setUp } from './play.ts';
import { verify } from './verify.ts';

export interface PropertyOptions {
  readonly runs: number;
  readonly seed: number;
  /** Commands of one run. */
  readonly commands: { readonly minLength: number; readonly maxLength: number };
  /** After each run that held: how many keys were accepted. */
  readonly onRun?: (accepted: number) => void;
}

/**
 * Lets drawn commands loose on the real processes, run after run, and checks what must hold whatever they are. The first failure ends
 * it, with seed, path and the commands: to make them fewer would take a system of minutes for each try.
 */
export async function holdProperty({ runs, seed, commands, onRun }: PropertyOptions): Promise<void> {
  const system = await openSystem({ policies: { idempotency_lease: '6s' } });
  let n = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { ...commands, size: 'max' }), async (drawn) => {
        const run = `r${(n += 1)}`;
        await setUp(system, run);
        const asked = await play(system, run, drawn);
        const { accepted } = await verify(system, run, asked);
        onRun?.(accepted);
      }),
      { numRuns: runs, seed, endOnFailure: true },
    );
  } finally {
    await system.close();
  }
}

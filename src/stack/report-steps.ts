/** Tells a person at the terminal how far a start is. */
export interface StepReport {
  /** Does the work, says in one line when it is done, and in between that it goes on. `work` returns what is to be known. */
  step<Result extends { readonly at: string }>(name: string, work: () => Promise<Result>): Promise<Result>;
  readonly line: (text: string) => void;
}

// Below this nobody wonders; from here on silence looks like a fault.
const LONG_MS = 5_000;
const NAME_WIDTH = 12;

export function reportSteps(print: (line: string) => void): StepReport {
  return {
    line: print,
    step: async (name, work) => {
      const startedAt = Date.now();
      const seconds = (): string => `${((Date.now() - startedAt) / 1_000).toFixed(1)} s`;
      const waiting = setInterval(() => {
        print(`  … ${name} is still starting (${seconds()})`);
      }, LONG_MS);
      try {
        const result = await work();
        print(`  ✓ ${name.padEnd(NAME_WIDTH)} ${result.at} (${seconds()})`);
        return result;
      } finally {
        clearInterval(waiting);
      }
    },
  };
}

import { Command, InvalidArgumentError } from 'commander';
import { EXIT } from './command-error.ts';
import { createProgress } from './progress.ts';
import { reportText } from './demo/report.ts';
import { runDemo } from './demo/run-demo.ts';
import { loyaltyRate } from './loyalty-rate.ts';
import { print, printJson } from './output.ts';
import { requireDevFile } from './settings.ts';
import { withPool } from './with-pool.ts';

interface Options {
  readonly payments: number;
  readonly seed?: number;
  readonly json?: boolean;
}

/** Rows of a storm are asked for by their ids, all at once. */
const MOST_PAYMENTS = 20_000;
const LARGEST_SEED = 2 ** 31;

export function demoCommand(): Command {
  return new Command('demo')
    .description('let a storm of webhooks come down on the running stack, and show what came of it')
    .option('--payments <n>', 'how many customers order and pay', wholeNumber(MOST_PAYMENTS), 200)
    .option('--seed <n>', 'the same storm again', wholeNumber(LARGEST_SEED))
    .option('--json', 'answer as JSON')
    .action(async ({ payments, seed, json = false }: Options) => {
      const stack = requireDevFile();
      const now = Date.now();
      const report = await withPool(stack.database_url, (pool) =>
        runDemo({
          ...{ stack, pool, orders: payments },
          // Ids are not used twice, whatever the seed.
          run: `demo-${now.toString(36)}`,
          seed: seed ?? now % LARGEST_SEED,
          progress: createProgress(),
          loyaltyPointsPerMajorUnit: loyaltyRate(stack.database_url),
        }),
      );
      if (json) printJson(report);
      else print(reportText(report));
      if (!report.ok) process.exitCode = EXIT.no;
    });
}

function wholeNumber(most: number): (value: string) => number {
  return (value) => {
    const number = /^[1-9]\d{0,9}$/.test(value) ? Number(value) : 0;
    if (number < 1 || number > most) throw new InvalidArgumentError(`A whole number from 1 to ${most}.`);
    return number;
  };
}

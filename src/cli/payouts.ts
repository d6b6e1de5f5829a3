import { readFileSync } from 'node:fs';
import { SingleBar, Presets } from 'cli-progress';
import { Command } from 'commander';
import { isThrough } from './payouts/make-payout.ts';
import { BadFile } from './file/read-rows.ts';
import { readPayouts } from './payouts/read-payouts.ts';
import { runPayouts } from './payouts/run-payouts.ts';
import { apiAccess } from './settings.ts';
import { payoutsReport, payoutsSummary } from './payouts/summary.ts';

interface RunOptions {
  readonly date: string;
  readonly file: string;
  readonly source: string;
  readonly wait: string;
  readonly json?: boolean;
}

/** Some payouts are not through. */
const NOT_THROUGH = 1;
/** Nothing was sent: the file or the call itself is wrong. */
const NOT_USABLE = 2;
/** Without a terminal a line is written after each tenth. */
const PLAIN_STEPS = 10;

/** `paidonce payouts …` */
export function payoutsCommand(): Command {
  const payouts = new Command('payouts').description('Payouts to sellers.');
  payouts
    .command('run')
    .description('Pay out a day: one payout per seller, however often it runs.')
    .requiredOption('--date <YYYY-MM-DD>', 'the settlement date')
    .requiredOption(
      '--file <path>',
      'CSV with a header, or a JSON list: seller_id, amount (minor units), currency, destination',
    )
    .requiredOption('--source <name>', 'the configured source that pays')
    .option('--wait <seconds>', 'how long to wait for a silent gateway in the end', '30')
    .option('--json', 'print the result as JSON')
    .action(run);
  return payouts;
}

async function run(options: RunOptions): Promise<void> {
  try {
    const access = apiAccess();
    if (!/^\d{1,5}$/.test(options.wait)) throw new Error('--wait must be a whole number of seconds.');
    const payouts = readPayouts(readFileSync(options.file, 'utf8'), options.file, options);
    const progress = startProgress(payouts.length);
    const made = await runPayouts(access, payouts, {
      waitMs: Number(options.wait) * 1_000,
      onProgress: progress.update,
    });
    progress.stop();
    process.stdout.write(`${options.json ? JSON.stringify(payoutsReport(made), null, 2) : payoutsSummary(made)}\n`);
    process.exitCode = made.every(isThrough) ? 0 : NOT_THROUGH;
  } catch (error) {
    const mistakes = error instanceof BadFile ? error.mistakes : [];
    process.stderr.write(`${[(error as Error).message, ...mistakes.map((mistake) => `  ${mistake}`)].join('\n')}\n`);
    process.exitCode = NOT_USABLE;
  }
}

function startProgress(total: number): { update: (done: number) => void; stop: () => void } {
  if (process.stderr.isTTY) {
    const bar = new SingleBar({ format: 'payouts {bar} {value} of {total}', hideCursor: true }, Presets.shades_classic);
    bar.start(total, 0);
    return { update: (done) => bar.update(done), stop: () => bar.stop() };
  }
  const step = Math.ceil(total / PLAIN_STEPS);
  return {
    update(done) {
      if (done % step === 0 || done === total) process.stderr.write(`payouts: ${done} of ${total}\n`);
    },
    stop: () => undefined,
  };
}

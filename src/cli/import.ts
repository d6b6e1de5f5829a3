import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { importOrders, type ImportSummary } from './import/import-orders.ts';
import { readOrders } from './import/read-orders.ts';
import { BadFile } from './file/read-rows.ts';
import { print, printJson } from './output.ts';
import { createProgress } from './progress.ts';

interface ImportOptions {
  readonly file: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `paidonce import …` */
export function importCommand(): Command {
  return new Command('import')
    .description('take in what was there before')
    .addCommand(
      new Command('orders')
        .description('orders that were paid elsewhere: written as paid, with no consequence and no announcement')
        .requiredOption(
          '--file <path>',
          'CSV with a header, or a JSON list: id, currency, amount (minor units), customer_id, source, payment_id, paid_at; customer_email, customer_name, amount_refunded',
        )
        .option('--dry-run', 'write nothing, and say what would be')
        .option('--json', 'answer as JSON')
        .action(run),
    );
}

async function run({ file, dryRun = false, json = false }: ImportOptions): Promise<void> {
  try {
    const orders = readOrders(read(file), file);
    const progress = createProgress();
    // All of it is looked at before anything is written: of a file with mistakes nothing is.
    progress.begin('Orders checked', orders.length);
    const checked = await importOrders(orders, { dryRun: true, onProgress: progress.at });
    progress.end();
    if (checked.mistakes.length > 0) throw new BadFile(checked.mistakes);
    let summary = checked;
    if (!dryRun) {
      progress.begin('Orders imported', orders.length);
      summary = await importOrders(orders, { dryRun: false, onProgress: progress.at });
      progress.end();
    }
    const { imported, unchanged, refused } = summary;
    if (json) printJson({ dry_run: dryRun, imported, unchanged, refused });
    else print(textOf(summary, dryRun));
    if (refused.length > 0) process.exitCode = EXIT.no;
  } catch (error) {
    if (!(error instanceof BadFile)) throw error;
    throw new CommandError([error.message, ...error.mistakes.map((mistake) => `  ${mistake}`)].join('\n'));
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`The file cannot be read: ${(error as Error).message}.`);
  }
}

function textOf({ imported, unchanged, refused }: ImportSummary, dryRun: boolean): string {
  return [
    `${imported} orders ${dryRun ? 'would be imported' : 'imported'}, ${unchanged} were there already, ${refused.length} refused.`,
    ...refused.map(({ place, id, reason }) => `  ${place}: ${id}: ${reason}`),
  ].join('\n');
}

import { Command } from 'commander';
import { migrate } from '../database/migrate.ts';
import { print, printJson } from './output.ts';
import { databaseUrl } from './settings.ts';
import { describeDatabase } from './with-pool.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database up to the newest migration; safe to repeat')
    .option('--json', 'answer as JSON')
    .action(async ({ json = false }: { json?: boolean }) => {
      const url = databaseUrl();
      const ran = await migrate(url);
      if (json) printJson({ ran });
      else if (ran.length === 0) print(`Nothing to do: ${describeDatabase(url)} is up to date.`);
      else print([`Migrated ${describeDatabase(url)}:`, ...ran.map((name) => `  ${name}`)].join('\n'));
    });
}

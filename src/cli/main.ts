import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { isDatabaseUnavailable } from '../database/postgres-errors.ts';
import { auditCommand } from './audit.ts';
import { CommandError, EXIT } from './command-error.ts';
import { deadLettersCommand } from './dead-letters.ts';
import { demoCommand } from './demo.ts';
import { eventsCommand } from './events.ts';
import { importCommand } from './import.ts';
import { keysCommand } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { payoutsCommand } from './payouts.ts';
import { reconcileCommand } from './reconcile.ts';

const program = new Command('paidonce')
  .description(
    'Payment webhooks arrive at least once; the money, and every consequence of the money, happen exactly once.',
  )
  .addHelpText(
    'after',
    '\nCommands work on the stack that runs in this folder (npm start), else on what the environment names (see .env.example).',
  );
for (const command of [
  demoCommand(),
  auditCommand(),
  eventsCommand(),
  deadLettersCommand(),
  payoutsCommand(),
  importCommand(),
  reconcileCommand(),
  keysCommand(),
  migrateCommand(),
]) {
  program.addCommand(command);
}
exitByThrowing(program);

try {
  await program.parseAsync();
} catch (error) {
  const { sentence, exitCode } = whatToSay(error);
  if (sentence !== null) {
    const json = process.argv.includes('--json');
    process.stderr.write(`${json ? JSON.stringify({ error: sentence }) : sentence}\n`);
  }
  process.exitCode = exitCode;
}

/** Settings of a command are not handed down to those that were added ready-made. */
function exitByThrowing(command: Command): void {
  command.exitOverride();
  command.commands.forEach(exitByThrowing);
}

function whatToSay(error: unknown): { readonly sentence: string | null; readonly exitCode: number } {
  if (error instanceof CommandError) return { sentence: error.message, exitCode: error.exitCode };
  // Said already: a mistake in the command line, or the help that was asked for.
  if (error instanceof CommanderError) return { sentence: null, exitCode: error.exitCode === 0 ? 0 : EXIT.cannot };
  if (error instanceof ConfigError) return { sentence: error.message, exitCode: EXIT.cannot };
  if (isDatabaseUnavailable(error)) {
    const reason = (error as Error).message.replace(/^PostgreSQL is not available: /, '');
    return {
      sentence: `PostgreSQL cannot be reached (${reason}): is npm start running, and is DATABASE_URL right?`,
      exitCode: EXIT.cannot,
    };
  }
  return { sentence: error instanceof Error ? (error.stack ?? error.message) : String(error), exitCode: EXIT.cannot };
}

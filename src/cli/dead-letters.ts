import { Command } from 'commander';
import type { DeadLetterView } from '../database/list-dead-letters.ts';
import { formatMoney } from '../domain/money.ts';
import { callApi } from './call-api.ts';
import { listAll } from './list-all.ts';
import { print, printJson, tableOf } from './output.ts';

/** As JSON carries it. */
type DeadLetter = Omit<DeadLetterView, 'amount'> & { readonly amount: number | null };

export function deadLettersCommand(): Command {
  return new Command('dead-letters')
    .description('what waits for a person')
    .addCommand(decide())
    .addCommand(
      new Command('list')
        .description('the open ones, extra captures before all, then the oldest')
        .option('--all', 'those that are closed, too')
        .option('--json', 'answer as JSON')
        .action(async ({ all = false, json = false }: { all?: boolean; json?: boolean }) => {
          // Open ones come first.
          const wanted = (letter: DeadLetter): boolean => all || letter.status === 'open';
          const letters = await listAll<DeadLetter>('/v1/dead-letters', { wanted });
          if (json) printJson({ data: letters });
          else if (letters.length === 0) print(all ? 'There are no dead letters.' : 'Nothing waits for a person.');
          else print(tableOf(['id', 'since', 'kind', 'about', 'amount', 'choices', 'last error'], letters.map(rowOf)));
        }),
    );
}

interface DecideOptions {
  readonly note: string;
  readonly outcome?: string;
  readonly gatewayId?: string;
  readonly json?: boolean;
}

function decide(): Command {
  return new Command('decide')
    .description('decide about one, by one of its choices')
    .argument('<id>', 'as list shows it')
    .argument('<action>', 'retry, resolve, give_up, refund or accept')
    .requiredOption('--note <text>', 'why; it is kept with who decided')
    .option('--outcome <outcome>', 'with resolve: what was seen at the gateway, succeeded or failed')
    .option('--gateway-id <id>', "with resolve: the gateway's object that was seen")
    .option('--json', 'answer as JSON')
    .action(async (id: string, action: string, { note, outcome, gatewayId, json = false }: DecideOptions) => {
      const letter = await callApi<DeadLetter>('POST', `/v1/dead-letters/${encodeURIComponent(id)}/decide`, {
        ...{ action, note },
        ...(outcome === undefined ? {} : { outcome }),
        ...(gatewayId === undefined ? {} : { gateway_id: gatewayId }),
      });
      if (json) printJson(letter);
      else
        print(
          `Decided: ${action}. ${letter.workflow_id === null ? 'It is acted on now.' : `${letter.workflow_id} is told.`}`,
        );
    });
}

function rowOf(letter: DeadLetter): string[] {
  const about = [letter.order_id, letter.payment_id, letter.refund_id ?? letter.event_id].filter((id) => id !== null);
  const { amount, currency } = letter;
  return [
    letter.id,
    letter.since,
    letter.kind,
    about.join(' '),
    amount === null || currency === null ? '' : formatMoney({ amount: BigInt(amount), currency }),
    letter.status === 'open' ? letter.choices.join(', ') : letter.status,
    letter.last_error,
  ];
}

import { Command, InvalidArgumentError } from 'commander';
import type { EventView } from '../database/read-event.ts';
import { replayCommand } from './events/replay.ts';
import { listAll } from './list-all.ts';
import { print, printJson, tableOf } from './output.ts';

const FILTERS = ['source', 'type', 'payment_id', 'order_id', 'state', 'from', 'to'] as const;

interface ListOptions {
  readonly source?: string;
  readonly type?: string;
  readonly payment?: string;
  readonly order?: string;
  readonly state?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly json?: boolean;
}

export function eventsCommand(): Command {
  return new Command('events')
    .description('the webhooks that came in')
    .addCommand(
      new Command('list')
        .description('newest first')
        .option('--source <name>')
        .option('--type <type>', 'payment.captured, refund.succeeded, …')
        .option('--payment <id>')
        .option('--order <id>')
        .option('--state <state>', 'pending, processed, ignored or held')
        .option('--from <time>', 'received at or after, as 2026-11-01T00:00:00Z')
        .option('--to <time>', 'received before')
        .option('--limit <n>', 'how many at most', count, 50)
        .option('--json', 'answer as JSON')
        .action(async ({ limit, json = false, payment, order, ...rest }: ListOptions) => {
          const asked: Partial<Record<(typeof FILTERS)[number], string | undefined>> = {
            ...rest,
            payment_id: payment,
            order_id: order,
          };
          const filters = FILTERS.flatMap((name) =>
            asked[name] === undefined ? [] : [[name, asked[name]] as [string, string]],
          );
          const query = new URLSearchParams(filters).toString();
          const events = await listAll<EventView>(`/v1/events${query === '' ? '' : `?${query}`}`, { limit });
          if (json) printJson({ data: events });
          else if (events.length === 0) print('No such events came in.');
          else
            print(
              tableOf(
                ['received', 'event', 'type', 'payment', 'order', 'times', 'state', 'outcome'],
                events.map(rowOf),
              ),
            );
        }),
    )
    .addCommand(replayCommand());
}

function rowOf(event: EventView): string[] {
  return [
    event.received_at,
    `${event.source} ${event.event_id}`,
    event.event_type,
    event.payment_id ?? '',
    event.order_id ?? '',
    `${event.deliveries.length}×`,
    event.state,
    event.outcome ?? event.last_error ?? '',
  ];
}

function count(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError('A whole number from 1.');
  return Number(value);
}

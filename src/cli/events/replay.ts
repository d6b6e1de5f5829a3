import { Command } from 'commander';
import type { EventView } from '../../database/read-event.ts';
import { callApi } from '../call-api.ts';
import { CommandError, EXIT } from '../command-error.ts';
import { confirmed } from '../confirmed.ts';
import { print, printJson } from '../output.ts';
import { createProgress } from '../progress.ts';

interface ReplayOptions {
  readonly payment?: string;
  readonly source?: string;
  readonly type?: string;
  readonly state?: string;
  readonly from?: string;
  readonly to?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `paidonce events replay`: one event, those of a payment, or those of a time. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('look at stored events again; harmless however often')
    .argument('[source]', 'with <event_id>: this one event')
    .argument('[event_id]')
    .option('--payment <source:payment_id>', 'all events of a payment')
    .option('--from <time>', 'received at or after, as 2026-11-01T00:00:00Z')
    .option('--to <time>', 'received before')
    .option('--source <name>')
    .option('--type <type>', 'payment.captured, refund.succeeded, …')
    .option('--state <state>', 'pending, processed or held; ignored ones only when asked for')
    .option('--all', 'every event there is, but the ignored ones')
    .option('--dry-run', 'only count them')
    .option('--yes', 'do not ask')
    .option('--json', 'answer as JSON')
    .action(async (source: string | undefined, eventId: string | undefined, options: ReplayOptions) => {
      if (source === undefined) return replayMany(options);
      if (eventId === undefined) throw new CommandError('Name one event as <source> <event_id>, or use the options.');
      await replayOne(source, eventId, options.json === true);
    });
}

async function replayOne(source: string, eventId: string, json: boolean): Promise<void> {
  const path = `/v1/events/${encodeURIComponent(source)}/${encodeURIComponent(eventId)}/replay`;
  const event = await callApi<EventView>('POST', path);
  if (json) printJson(event);
  else print(`Event ${eventId} of ${source} (${event.state}) is looked at again.`);
}

interface Batch {
  readonly count: number;
  readonly at: string;
  readonly next_cursor: string | null;
}

async function replayMany(options: ReplayOptions): Promise<void> {
  const filter = filterOf(options);
  const counted = await callApi<Batch>('POST', '/v1/events/replay', { filter, dry_run: true });
  const total = counted.count;
  const found = `${total} ${total === 1 ? 'event matches' : 'events match'}.`;
  if (options.dryRun === true) return answer(options, { count: total, replayed: 0 }, found);
  if (total > 0 && options.yes !== true && !(await confirmed(`${found} Look at them again?`))) {
    throw new CommandError(`${found} Nothing is done: say --yes to look at them again.`, EXIT.no);
  }
  const progress = createProgress();
  progress.begin('Events to be looked at again', total);
  let replayed = 0;
  // What comes in from now on is looked at anyway, and would keep this from ending.
  const body = { filter: { ...filter, to: filter['to'] ?? counted.at } };
  for (let cursor: string | null | undefined; cursor !== null;) {
    const batch: Batch = await callApi<Batch>(
      'POST',
      '/v1/events/replay',
      cursor === undefined ? body : { ...body, cursor },
    );
    replayed += batch.count;
    progress.at(replayed);
    cursor = batch.next_cursor;
  }
  progress.end();
  answer(
    options,
    { count: total, replayed },
    `${replayed} ${replayed === 1 ? 'event is' : 'events are'} looked at again.`,
  );
}

function filterOf(options: ReplayOptions): Record<string, string> {
  const { payment, source, type, state, from, to, all } = options;
  const [named, ...id] = payment?.split(':') ?? [];
  if (payment !== undefined && (named === '' || id.length === 0)) {
    throw new CommandError('--payment takes a source and the payment of it: --payment stripe:pi_123.');
  }
  if (named !== undefined && source !== undefined && named !== source) {
    throw new CommandError(`--payment names the source ${named}, and --source another one.`);
  }
  const asked = {
    source: named ?? source,
    payment_id: payment === undefined ? undefined : id.join(':'),
    type,
    state,
    from,
    to,
  };
  const filter = Object.fromEntries(
    Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  if (Object.keys(filter).length === 0 && all !== true) {
    throw new CommandError('Say which: <source> <event_id>, --payment, --from and --to, --state, …, or --all.');
  }
  return filter;
}

function answer({ json }: ReplayOptions, report: { count: number; replayed: number }, sentence: string): void {
  if (json === true) printJson(report);
  else print(sentence);
}

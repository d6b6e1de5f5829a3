import pg from 'pg';
import type { StepCounter } from './step-counter.ts';

/** Wake-ups, limits of a connection and the beginning of a transaction change nothing that another process could see. */
const NO_STEP = /^\s*(listen|notify|set|begin)\b/i;
const SHOWN = 90;

type Query = (this: pg.Client, ...args: unknown[]) => unknown;
type Callback = (error: unknown, result: unknown) => void;

/** Counts every statement before it is sent, and after its answer came unless its transaction is still open: then the next one says the same. */
export function countStatements(counter: StepCounter): void {
  const transactions = new WeakMap<pg.Client, { concerned: boolean }>();
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const query = prototype.query;

  prototype.query = function counted(this: pg.Client, ...args: unknown[]): unknown {
    const text = textOf(args[0]);
    if (text === null || !counter.active()) return query.apply(this, args);
    const verb = /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? '';
    const open = transactions.get(this);
    if (verb === 'begin') transactions.set(this, { concerned: false });
    if (verb === 'commit' || verb === 'rollback') transactions.delete(this);
    if (NO_STEP.test(text) || verb === 'rollback') return query.apply(this, args);

    const commits = verb === 'commit';
    const concerned = commits ? open?.concerned === true : open?.concerned === true || counter.concerns(valuesOf(args));
    if (concerned && open !== undefined) open.concerned = true;
    const what = shown(text, commits);
    if (concerned) counter.step('before', what);
    const answered = (result: unknown): void => {
      // A statement that found work of ours, such as a claim of the relay, belongs to it from here on.
      const found = !concerned && counter.concerns(rowsOf(result));
      if (found) learnIds(counter, rowsOf(result));
      if (found && open !== undefined) open.concerned = true;
      if ((concerned || found) && (open === undefined || commits)) counter.step('after', what);
    };
    return withAnswer(query, this, args, answered);
  };
}

/** Both ways in which the driver answers. */
function withAnswer(query: Query, client: pg.Client, args: unknown[], answered: (result: unknown) => void): unknown {
  const last = args.length - 1;
  const callback = args[last];
  if (typeof callback !== 'function') {
    return (query.apply(client, args) as Promise<unknown>).then((result) => {
      answered(result);
      return result;
    });
  }
  const wrapped: Callback = (error, result) => {
    if (error === null || error === undefined) answered(result);
    (callback as Callback)(error, result);
  };
  return query.apply(client, [...args.slice(0, last), wrapped]);
}

function textOf(statement: unknown): string | null {
  if (typeof statement === 'string') return statement;
  const config = statement as { text?: unknown; submit?: unknown } | null;
  return typeof config?.text === 'string' && config.submit === undefined ? config.text : null;
}

function valuesOf([statement, values]: unknown[]): unknown {
  return Array.isArray(values) ? values : (statement as { values?: unknown }).values;
}

function rowsOf(result: unknown): { id?: unknown }[] {
  return (result as { rows?: { id?: unknown }[] } | undefined)?.rows ?? [];
}

/** The numbers of outbox rows, by which they are marked later. */
function learnIds(counter: StepCounter, rows: readonly { id?: unknown }[]): void {
  for (const row of rows) {
    if (typeof row.id === 'bigint' && counter.concerns(row)) counter.learn(`"bigint:${row.id}"`);
  }
}

function shown(text: string, commits: boolean): string {
  return commits ? 'sql commit' : `sql ${text.replaceAll(/\s+/g, ' ').trim().slice(0, SHOWN)}`;
}

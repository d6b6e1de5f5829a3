import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const FOLDER = fileURLToPath(new URL('histories/', import.meta.url));

/** An event of a history in the JSON that Temporal's own tools read and write. */
export interface HistoryEvent {
  readonly eventType: string;
  readonly [attributes: string]: unknown;
}

/** What a recorded run went through. */
export interface RecordedRun {
  /** `{workflow type, in kebab-case}.{what happened}` */
  readonly name: string;
  readonly workflowType: string;
  readonly workflowId: string;
  /** False where it ends in the middle: that run waits for something. */
  readonly ended: boolean;
  readonly history: { readonly events: readonly HistoryEvent[] };
}

interface Started {
  readonly workflowId: string;
  readonly workflowType: { readonly name: string };
}

/** All recorded runs, by name. */
export async function readRuns(): Promise<RecordedRun[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => {
      const history = JSON.parse(await readFile(join(FOLDER, file), 'utf8')) as RecordedRun['history'];
      const started = history.events[0]?.['workflowExecutionStartedEventAttributes'] as Started;
      const last = history.events.at(-1)?.eventType ?? '';
      return {
        name: file.slice(0, -'.json'.length),
        workflowType: started.workflowType.name,
        workflowId: started.workflowId,
        ended: /^EVENT_TYPE_WORKFLOW_EXECUTION_(COMPLETED|FAILED|CONTINUED_AS_NEW)$/.test(last),
        history,
      };
    }),
  );
}

/** Keeps a run under its name, laid out as the format check wants it. */
export async function writeRun(name: string, historyJson: string): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const file = join(FOLDER, `${name}.json`);
  const text = JSON.stringify(withoutPlaces(JSON.parse(historyJson)));
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}

/** What shows where source code lay. */
const TRACE = 'stackTrace';
/** A process as it names itself and its own queue: `pid@host…`. */
const PROCESS = /^\d+@.*/;

/** Without what tells of the machine that recorded it; nothing of that is replayed. */
function withoutPlaces(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(PROCESS, 'recorder');
  if (Array.isArray(value)) return value.map(withoutPlaces);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === TRACE ? '' : withoutPlaces(member)]),
  );
}

import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker, type ReplayResult } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import * as workflows from '../../src/workflows/index.ts';
import { askForService } from '../support/ask-for-service.ts';
import type { WorkflowsService } from '../support/services.ts';
import { readRuns, type RecordedRun } from './histories.ts';
import { SCENARIOS } from './scenarios.ts';

/**
 * Runs that are open while the code changes are replayed with the new code. These were recorded; where one is refused,
 * guard the change by a named patch (CONTRIBUTING.md), or, before the first release, record anew: `npm run record`.
 */

// What a replay refuses is looked at here, and need not be written down.
Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  shutdownSignals: [],
});

const RUNS = await readRuns();

let workflowBundle: WorkflowsService;
beforeAll(async () => {
  workflowBundle = await askForService<WorkflowsService>('/workflows');
});

async function replay(runs: readonly RecordedRun[]): Promise<ReplayResult[]> {
  const histories = runs.map(({ workflowId, history }) => ({ workflowId, history: historyFromJSON(history) }));
  const results: ReplayResult[] = [];
  for await (const result of Worker.runReplayHistories({ workflowBundle }, histories)) results.push(result);
  return results;
}

const run = (name: string): RecordedRun => {
  const found = RUNS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no history ${name}: npm run record`);
  return found;
};

/** Its steps follow each other without a pause. */
const NEVER_WAITS: ReadonlySet<string> = new Set(['audit', 'cleanUp', 'reapIdempotencyKeys', 'reconcile']);

describe('the present workflows', () => {
  it.each(RUNS.map(({ name }) => name))('go on with %s', async (name) => {
    const [result] = await replay([run(name)]);
    expect(result?.error).toBeUndefined();
    expect(result?.workflowId).toBe(run(name).workflowId);
  });

  it.each(Object.keys(workflows))('include %s, with a recorded run that ended and one that waits', (workflow) => {
    const ends = RUNS.filter(({ workflowType }) => workflowType === workflow).map(({ ended }) => ended);
    expect(new Set(ends)).toEqual(NEVER_WAITS.has(workflow) ? new Set([true]) : new Set([true, false]));
  });
});

describe('the recorded runs', () => {
  it('are one for each scenario', () => {
    expect(RUNS.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(SCENARIOS)));
  });

  it('were given their own id as their only input, and told of events by their ids', () => {
    for (const { name, history } of RUNS) {
      for (const { eventType, ...event } of history.events) {
        const inputs = inputsOf(event);
        if (eventType === 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED') expect(inputs, name).toEqual([]);
        if (eventType !== 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED') continue;
        for (const input of inputs) expect(input, name).toMatch(/^"evt_[a-z_]+"$/);
        expect(inputs.length, name).toBeLessThanOrEqual(1);
      }
    }
  });

  it('carry no personal data and nothing of a webhook in any input, result or failure', () => {
    for (const { name, history } of RUNS) {
      const payloads: string[] = [];
      JSON.stringify(history, (key, value: unknown) => {
        if (key === 'data' && typeof value === 'string') payloads.push(Buffer.from(value, 'base64').toString());
        return value;
      });
      expect(payloads.length, name).toBeGreaterThan(0);
      const members = payloads.flatMap((payload) => payload.match(/"\w+"(?=:)/g) ?? []);
      const private_ = members.filter((member) =>
        /e.?mail|customer|phone|address|card|body|payload|header|raw/i.test(member),
      );
      expect(private_, name).toEqual([]);
      expect(
        payloads.filter((payload) => /\S@\S+\.\S/.test(payload)),
        name,
      ).toEqual([]);
    }
  });

  it('tell nothing of the machine that they were recorded on', () => {
    for (const { name, history } of RUNS) {
      const texts: string[] = [];
      JSON.stringify(history, (key, value: unknown) => {
        if (typeof value === 'string') texts.push(key === 'data' ? Buffer.from(value, 'base64').toString() : value);
        return value;
      });
      const places = texts.filter((text) =>
        /\bfile:|\.ts:\d|127\.0\.0\.1|\d@/.test(text.replace(/^@temporalio\/.*/, '')),
      );
      expect(places, name).toEqual([]);
    }
  });
});

/** What an event of a history was given, as JSON texts. */
function inputsOf(event: object): string[] {
  const [attributes] = Object.values(event).filter(
    (value) => typeof value === 'object' && value !== null && 'input' in value,
  );
  const input = (attributes as { input: { payloads?: { data: string }[] } | null } | undefined)?.input;
  return (input?.payloads ?? []).map(({ data }) => Buffer.from(data, 'base64').toString());
}

/** The same run with every occurrence of a text replaced, as if other code had recorded it. */
function asIf(name: string, from: string, to: string): RecordedRun {
  const { history, ...rest } = run(name);
  const text = JSON.stringify(history);
  expect(text).toContain(from);
  return { ...rest, history: JSON.parse(text.replaceAll(from, to)) as RecordedRun['history'] };
}

describe('a run of other code is refused', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  /** The marker of a local activity holds its type inside a payload. */
  function withLocalActivity(name: string, from: string, to: string): RecordedRun {
    const data = run(name)
      .history.events.flatMap((event) => JSON.stringify(event).match(/"data":"[A-Za-z0-9+/=]+"/g) ?? [])
      .map((member) => member.slice('"data":"'.length, -1))
      .find((payload) => Buffer.from(payload, 'base64').toString().includes(`"activity_type":"${from}"`));
    if (data === undefined) throw new Error(`${name} has no local activity ${from}`);
    return asIf(name, data, base64(Buffer.from(data, 'base64').toString().replace(from, to)));
  }

  it.each<[string, () => RecordedRun]>([
    ['called another activity', () => asIf('refund-payment.succeeded', '"executeRefund"', '"sendRefund"')],
    [
      'called another local activity',
      () => withLocalActivity('process-payment.waits-for-its-order', 'settlePayment', 'lookAtPayment'),
    ],
    [
      'ended where ours goes on',
      () => {
        const { history, ...rest } = run('process-payment.waits-for-the-gateway');
        const end = run('process-payment.paid-by-webhook').history.events.at(-1);
        return {
          ...rest,
          history: { events: [...history.events.slice(0, -1), { ...end, eventType: end?.eventType ?? '' }] },
        };
      },
    ],
  ])('that %s', async (_, other) => {
    const [result] = await replay([other()]);
    expect(result?.error?.name).toBe('DeterminismViolationError');
  });
});

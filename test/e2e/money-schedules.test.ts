import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureSchedules } from '../../src/relay/ensure-schedules.ts';
import { freePorts } from '../../src/stack/ports.ts';
import type { Logger } from '../../src/telemetry/log.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';

let temporal: TestNamespace;
beforeAll(async () => {
  temporal = await createTestNamespace();
});
afterAll(() => temporal.close());

const SOURCES = [
  { name: 'sim', listsEvents: true },
  { name: 'shop-eu', listsEvents: true },
  { name: 'silent', listsEvents: false },
];

const ID = 'reap-idempotency-keys';

function listeningLog(): { readonly lines: unknown[]; readonly log: Logger } {
  const lines: unknown[] = [];
  return { lines, log: { warn: (...line: unknown[]) => lines.push(line) } as unknown as Logger };
}

describe('the schedules of the jobs that run by themselves', () => {
  it('are one for each source that is configured, and those for all', async () => {
    await ensureSchedules(temporal.client, listeningLog().log, SOURCES);
    const found = await Promise.all(
      [
        'clean-up',
        'audit',
        'reconcile:sim',
        'reconcile:shop-eu',
        'find-missing-webhooks:sim',
        'find-missing-webhooks:shop-eu',
      ].map((id) => temporal.client.schedule.getHandle(id).describe()),
    );
    expect(found.map(({ action, spec }) => [action.workflowType, spec.intervals?.[0]?.every])).toEqual([
      ['cleanUp', 3_600_000],
      ['audit', 3_600_000],
      ['reconcile', 300_000],
      ['reconcile', 300_000],
      ['findMissingWebhooks', 300_000],
      ['findMissingWebhooks', 300_000],
    ]);
  });

  it('do not look for events where the gateway lists none', async () => {
    await ensureSchedules(temporal.client, listeningLog().log, SOURCES);
    await expect(temporal.client.schedule.getHandle('find-missing-webhooks:silent').describe()).rejects.toThrow();
    expect((await temporal.client.schedule.getHandle('reconcile:silent').describe()).action.workflowType).toBe(
      'reconcile',
    );
  });
});

describe('the schedule of the job that looks after keys', () => {
  it('is made once, whichever workers start, and runs every minute, one at a time', async () => {
    const { lines, log } = listeningLog();
    await Promise.all([1, 2, 3].map(() => ensureSchedules(temporal.client, log, SOURCES)));
    expect(lines).toEqual([]);
    const found = await temporal.client.schedule.getHandle(ID).describe();
    expect(found.spec.intervals).toMatchObject([{ every: 60_000 }]);
    expect(found.action).toMatchObject({ workflowType: 'reapIdempotencyKeys', taskQueue: 'paidonce' });
    expect(found.policies.overlap).toBe('SKIP');
  });

  it('is brought up to date by a newer worker, and stays paused where a person paused it', async () => {
    const handle = temporal.client.schedule.getHandle(ID);
    await handle.update((before) => ({ ...before, spec: { intervals: [{ every: '1h' }] } }));
    await handle.pause('maintenance');
    // The server takes a change in at once and shows it a moment later.
    const shown = async () => {
      const { spec, state } = await handle.describe();
      return [spec.intervals?.[0]?.every, state.paused, state.note];
    };
    await expect.poll(shown, { timeout: 20_000 }).toEqual([3_600_000, true, 'maintenance']);
    // On a busy machine a worker may start without: it says so, and the next one does it.
    const restarted = async () => {
      await ensureSchedules(temporal.client, listeningLog().log, []);
      return shown();
    };
    await expect.poll(restarted, { timeout: 40_000, interval: 500 }).toEqual([60_000, true, 'maintenance']);
  });

  it('that a server does not let us make is said in one line, and the worker goes on', async () => {
    const [dead = 0] = await freePorts(1);
    const connection = Connection.lazy({ address: `127.0.0.1:${dead}` });
    const { lines, log } = listeningLog();
    await ensureSchedules(new Client({ connection, namespace: 'none' }), log, []);
    expect(lines).toHaveLength(3);
    expect(lines).toEqual(
      expect.arrayContaining([
        [expect.objectContaining({ schedule: ID }), expect.stringContaining('start reapIdempotencyKeys every 1m')],
        [expect.objectContaining({ schedule: 'clean-up' }), expect.stringContaining('start cleanUp every 1h')],
        [expect.objectContaining({ schedule: 'audit' }), expect.stringContaining('start audit every 1h')],
      ]),
    );
    await connection.close();
  });
});

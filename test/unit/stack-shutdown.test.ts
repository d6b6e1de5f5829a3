import { describe, expect, it } from 'vitest';
import { SHUTDOWN_TIMES } from '../../src/domain/shutdown-times.ts';
import { endParts } from '../../src/stack/end-parts.ts';
import { ownServices, postgresService } from '../../src/stack/stack-services.ts';

const { whole, api, worker, simulator, stack } = SHUTDOWN_TIMES;
/** What a request waits at most: for a confirmation, for a gateway, for PostgreSQL. */
const LONGEST_REQUEST = 5_000;

describe('the times of shutting down', () => {
  it('let each process end by itself before its last resort', () => {
    expect(api.drain).toBeGreaterThan(LONGEST_REQUEST);
    expect(api.drain + api.handOvers).toBeLessThan(api.lastResort);
    expect(worker.grace).toBeLessThan(worker.force);
    expect(worker.force).toBeLessThan(worker.lastResort);
  });

  it('let the stack outwait each process it started', () => {
    const folder = { log: (name: string) => name };
    const ours = ownServices('.', {}, folder);
    expect(ours.api.graceMs).toBeGreaterThan(api.lastResort);
    expect(ours.worker.graceMs).toBeGreaterThan(worker.lastResort);
    expect(ours.simulator.graceMs).toBeGreaterThan(simulator.lastResort);
  });

  it('leave the whole stack its 15 s though every process uses up its own', () => {
    const folder = { log: (name: string) => name };
    const ours = ownServices('.', {}, folder);
    const postgres = postgresService({ dataFolder: '', port: 0, password: '', logFile: '' });
    const engines = Math.max(ours.simulator.graceMs, postgres.graceMs, stack.engines);
    const slowest = Math.max(ours.api.graceMs, stack.headStart + ours.worker.graceMs) + engines;
    expect(slowest).toBeLessThan(stack.killAll);
    expect(stack.killAll).toBeLessThan(stack.exit);
    expect(stack.exit).toBeLessThan(whole);
    expect(whole).toBe(15_000);
  });
});

describe('the parts of a stack', () => {
  /** Parts that end when the test says so; `asked` says who was asked to. */
  function parts() {
    const asked: string[] = [];
    const part = (name: string) => {
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      return {
        end: () => end(),
        stop: () => {
          asked.push(name);
          return ended;
        },
      };
    };
    const all = {
      ...{ api: part('api'), worker: part('worker'), simulator: part('simulator') },
      ...{ temporal: part('temporal'), postgres: part('postgres') },
    };
    return { asked, all };
  }
  /** Everything that follows from what was done has been done. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('end one after the other: the API, then the worker, then what both of them used', async () => {
    const { asked, all } = parts();
    const ended = endParts(all);
    await settled();
    expect(asked).toEqual(['api']);
    all.api.end();
    await settled();
    expect(asked).toEqual(['api', 'worker']);
    all.worker.end();
    await settled();
    expect(asked).toEqual(['api', 'worker', 'simulator', 'temporal', 'postgres']);
    for (const part of [all.simulator, all.temporal, all.postgres]) part.end();
    await ended;
  });

  it('go on with the worker when the API takes long, and take nothing from under it', async () => {
    const { asked, all } = parts();
    const ended = endParts(all, 1);
    await expect.poll(() => asked).toEqual(['api', 'worker']);
    all.worker.end();
    await settled();
    expect(asked).toEqual(['api', 'worker']);
    all.api.end();
    await settled();
    expect(asked).toHaveLength(5);
    for (const part of [all.simulator, all.temporal, all.postgres]) part.end();
    await ended;
  });

  it('end as well where only some of them were started', async () => {
    const { asked, all } = parts();
    all.postgres.end();
    await endParts({ postgres: all.postgres });
    expect(asked).toEqual(['postgres']);
  });
});

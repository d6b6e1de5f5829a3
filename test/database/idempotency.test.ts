import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KeyedOperation, runIdempotent } from '../../src/api/run-idempotent.ts';
import { createPool } from '../../src/database/pool.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { Problem } from '../../src/domain/problem.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, max: 10, applicationName: 'test' });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const log = createLogger('silent', 'test');
const call = (over: object = {}) => ({
  ...{ client: 'shop', method: 'POST', path: '/v1/things', key: randomUUID(), sent: { a: 1 } },
  ...over,
});
const answer = (body: string, status: 201 | 202 = 201) => ({ status, headers: { location: '/x' }, body });

function run(request: ReturnType<typeof call>, operation: Partial<KeyedOperation>, idempotencyLeaseMs = 60_000) {
  return runIdempotent({ pool, log, policies: { ...DEFAULT_POLICIES, idempotencyLeaseMs } }, request, {
    reserve: async () => ({ reservation: 'r1' }),
    complete: async () => answer('"done"'),
    ...operation,
  });
}

async function codeOf(answered: Promise<unknown>): Promise<string> {
  return answered.then(
    () => 'none',
    (error: unknown) => (error instanceof Problem ? error.code : String(error)),
  );
}

describe('a request under a key', () => {
  it('is answered with what is stored, byte for byte', async () => {
    const request = call();
    expect(await run(request, {})).toEqual(answer('"done"'));
    const again = await run(request, { complete: async () => answer('"other"') });
    expect(again).toEqual({ ...answer('"done"'), headers: { location: '/x', 'idempotent-replayed': 'true' } });
  });

  it('that is refused leaves nothing behind', async () => {
    const request = call();
    const refusing = {
      reserve: async (tx: pg.PoolClient) => {
        await tx.query(`insert into api_clients (name, scopes) values ('left-behind', '{}')`);
        throw new Problem('order_exists', 'taken');
      },
    };
    expect(await codeOf(run(request, refusing))).toBe('order_exists');
    expect((await pool.query(`select 1 from api_clients where name = 'left-behind'`)).rowCount).toBe(0);
    expect((await pool.query('select 1 from idempotency_keys where key = $1', [request.key])).rowCount).toBe(0);
    expect((await run(request, {})).body).toBe('"done"');
  });

  it('holds off others while it runs, and tells another request from the same one', async () => {
    const request = call();
    let finish = (): void => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    let reserved = 0;
    const first = run(request, {
      reserve: async () => ({ reservation: `r${(reserved += 1)}` }),
      complete: async () => running.then(() => answer('"first"')),
    });
    await expect.poll(() => reserved).toBe(1);
    await expect.poll(async () => codeOf(run(request, {}))).toBe('request_in_progress');
    expect(await codeOf(run({ ...request, sent: { a: 2 } }, {}))).toBe('idempotency_key_reused');
    finish();
    expect((await first).body).toBe('"first"');
    expect(reserved).toBe(1);
  });

  it('whose lease is over is completed from its reservation, and the first to store wins', async () => {
    const request = call();
    let finish = (): void => {};
    const slow = new Promise<void>((resolve) => (finish = resolve));
    const first = run(request, { complete: async () => slow.then(() => answer('"late"')) }, 1);
    const seen: string[] = [];
    const second = async () =>
      run(request, {
        reserve: async () => Promise.reject(new Error('reserved twice')),
        complete: async (reservation) => {
          seen.push(reservation);
          return answer('"truth"');
        },
      });
    await expect
      .poll(async () =>
        second().then(
          (a) => a.body,
          () => null,
        ),
      )
      .toBe('"truth"');
    expect(seen).toEqual(['r1']);
    finish();
    expect(await first).toEqual({ ...answer('"truth"'), headers: { location: '/x', 'idempotent-replayed': 'true' } });
  });

  it('that fails after its reservation is completed by the next try at once; a failure is never stored', async () => {
    const request = call();
    const broken = run(request, { complete: async () => Promise.reject(new Error('broken')) });
    await expect(broken).rejects.toThrow('broken');
    const again = await run(request, { reserve: async () => Promise.reject(new Error('reserved twice')) });
    expect(again).toEqual(answer('"done"'));
  });

  it('is nothing to another client, method or path', async () => {
    const request = call();
    const bodies = [];
    for (const over of [{}, { client: 'other' }, { method: 'PUT' }, { path: '/v1/others' }]) {
      bodies.push((await run({ ...request, ...over }, { complete: async () => answer(JSON.stringify(over)) })).body);
    }
    expect(new Set(bodies).size).toBe(4);
  });

  it('of twenty at once reserves once', async () => {
    const request = call();
    let reserved = 0;
    const results = await Promise.all(
      Array.from({ length: 20 }, async () =>
        codeOf(run(request, { reserve: async () => ({ reservation: `r${(reserved += 1)}` }) })),
      ),
    );
    expect(reserved).toBe(1);
    expect(results.filter((result) => result !== 'none' && result !== 'request_in_progress')).toEqual([]);
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import type { Pool } from '../../src/database/pool.ts';
import { createTestDatabase } from '../support/database.ts';
import { AT_ONCE } from '../support/permutations/at-once.ts';
import { ordersOfDelivery, seeded } from '../support/permutations/orders-of-delivery.ts';
import { createPlayer, SHOWINGS } from '../support/permutations/play.ts';
import { readEnds, type End } from '../support/permutations/read-ends.ts';
import { breachesOfRules } from '../support/permutations/rules.ts';
import type { Scenario, Step } from '../support/permutations/scenario.ts';
import { SCENARIOS } from '../support/permutations/scenarios.ts';

/** Which orders are drawn where there are too many for all: printed, and repeated by PERMUTATIONS_SEED. */
const SEED = Number(process.env['PERMUTATIONS_SEED'] ?? Date.now() % 1_000_000);
/** Five events have 120 orders, six have 720; what goes wrong in one of those goes wrong in many. */
const MOST_ORDERS = Number(process.env['PERMUTATIONS_MOST'] ?? 200);
/** As many as keep PostgreSQL and this process both at work; each connection more has every statement to learn. */
const SIDE_BY_SIDE = 4;
const ROUNDS = 50;
const LAGGING: readonly string[] = ['what was delivered before', 'now all, now less'];

let tried = 0;
afterAll(() => {
  process.stderr.write(`${tried} orders of delivery were tried; PERMUTATIONS_SEED=${SEED} repeats them.\n`);
});

describe('the order in which events come changes nothing about the end (B3)', () => {
  // A loop of its own: a title that is filled in is cut.
  for (const scenario of SCENARIOS) {
    it(scenario.name, { timeout: 300_000 }, ({ skip }) => playInEveryOrder(scenario, skip));
  }
});

describe(`in the same instant (${ROUNDS} rounds)`, () => {
  for (const scenario of AT_ONCE) it(scenario.name, { timeout: 120_000 }, () => playAtOnce(scenario));
});

async function playInEveryOrder(scenario: Scenario, skip: (condition: boolean, note: string) => void): Promise<void> {
  const db = await createTestDatabase();
  try {
    skip(!(await hasTable(db.pool, scenario.needs)), `there is no table ${scenario.needs ?? ''}`);
    const plays = playsOf(scenario);
    const player = createPlayer(db.pool, scenario);
    await sideBySide(plays, ({ tag, order, showing, said }) =>
      player
        .begin(tag, scenario)
        .run(order, showing)
        .catch((error: unknown) => {
          throw new Error(said, { cause: error });
        }),
    );
    tried += plays.length;
    const ends = await readEnds(db.pool);
    const groups = new Map<string, { end: End; said: string }>();
    for (const { tag, said } of plays) {
      const end = ends.get(tag) ?? {};
      expectRules(end, scenario, said);
      if (scenario.ends === 'rules') continue;
      const group = scenario.ends === 'one' ? '' : (/"status":"(\w+)"/.exec(end['orders']?.[0] ?? '')?.[1] ?? '');
      const first = groups.get(group);
      if (first === undefined) groups.set(group, { end, said });
      else expect(end, `${said}\nends otherwise than\n${first.said}`).toEqual(first.end);
    }
    expect((await runAudit(db.pool)).violations).toEqual([]);
  } finally {
    await db.drop();
  }
}

async function playAtOnce(scenario: Scenario): Promise<void> {
  const db = await createTestDatabase();
  try {
    const player = createPlayer(db.pool, scenario);
    const rounds = Array.from({ length: ROUNDS }, (_, n) => `r${n}`);
    // A few rounds side by side, so that what each does at once meets a busy database.
    await sideBySide(rounds, (tag) => player.begin(tag, scenario).runAtOnce(), 3);
    const ends = await readEnds(db.pool);
    for (const tag of rounds) expectRules(ends.get(tag) ?? {}, scenario, `round ${tag}`);
    expect((await runAudit(db.pool)).violations).toEqual([]);
  } finally {
    await db.drop();
  }
}

async function hasTable(pool: Pool, name = 'orders'): Promise<boolean> {
  const { rows } = await pool.query<{ there: boolean }>('select to_regclass($1) is not null as there', [name]);
  return rows[0]?.there === true;
}

/** Every order is played, in one after the other of the ways in which the gateway may show things. */
function playsOf(scenario: Scenario) {
  const orders = ordersOfDelivery(scenario.steps.length, MOST_ORDERS, seeded(SEED));
  const showings = SHOWINGS.filter((showing) => !(scenario.prompt && LAGGING.includes(showing)));
  return orders.map((order, n) => {
    const showing = showings[n % showings.length] ?? SHOWINGS[0];
    return {
      tag: `p${n}`,
      order,
      showing,
      said: `${told(scenario, order)}\nwhile the gateway shows ${showing} (seed ${SEED})`,
    };
  });
}

async function sideBySide<T>(all: readonly T[], play: (one: T) => Promise<void>, most = SIDE_BY_SIDE): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (const one of left) await play(one);
    }),
  );
}

function expectRules(end: End, { always }: Scenario, said: string): void {
  expect(breachesOfRules(end), said).toEqual([]);
  for (const [table, expected] of Object.entries(always)) {
    const rows = (end[table] ?? []).map((row) => JSON.parse(row) as object);
    if (typeof expected === 'number') expect(rows, `${said}\n${table}`).toHaveLength(expected);
    else for (const row of expected) expect(rows, `${said}\n${table}`).toContainEqual(expect.objectContaining(row));
  }
}

function told(scenario: Scenario, order: readonly number[]): string {
  return order.map((n) => `${n + 1}. ${nameOf(scenario.steps[n])}`).join(' → ');
}

function nameOf(step: Step | undefined): string {
  if (step === undefined) return 'nothing';
  if (step.does !== 'webhook') return step.does;
  const { type, event } = step.body as { type?: string; event?: string };
  return `${step.headers['webhook-id'] ?? ''} ${type ?? event ?? ''}`.trim();
}

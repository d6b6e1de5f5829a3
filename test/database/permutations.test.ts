import { afterAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { createTestDatabase } from '../support/database.ts';
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
/** As many as keep PostgreSQL and this process both at work. */
const SIDE_BY_SIDE = 8;

let tried = 0;
afterAll(() => {
  process.stderr.write(`${tried} orders of delivery were tried; PERMUTATIONS_SEED=${SEED} repeats them.\n`);
});

describe('the order in which events come changes nothing about the end (B3)', () => {
  it.each(SCENARIOS)('$name', { timeout: 120_000 }, async (scenario) => {
    const db = await createTestDatabase();
    try {
      const orders = ordersOfDelivery(scenario.steps.length, MOST_ORDERS, seeded(SEED));
      const showings = SHOWINGS.filter((showing) => !(scenario.prompt && showing === 'what was delivered before'));
      const plays = showings.flatMap((showing, way) =>
        orders.map((order, n) => ({ tag: `${'abc'[way] ?? ''}${n}`, order, showing })),
      );
      const player = createPlayer(db.pool, scenario);
      const left = plays.values();
      await Promise.all(
        Array.from({ length: SIDE_BY_SIDE }, async () => {
          for (const { tag, order, showing } of left) {
            await player
              .begin(tag, scenario)
              .run(order, showing)
              .catch((error: unknown) => {
                throw new Error(`${told(scenario, order)}\nwhile the gateway shows ${showing} (seed ${SEED})`, { cause: error });
              });
          }
        }),
      );
      tried += plays.length;
      const ends = await readEnds(db.pool);
      const groups = new Map<string, { end: End; said: string }>();
      for (const { tag, order, showing } of plays) {
        const said = `${told(scenario, order)}\nwhile the gateway shows ${showing} (seed ${SEED})`;
        const end = ends.get(tag) ?? {};
        expect(breachesOfRules(end), said).toEqual([]);
        expectRows(end, scenario.always, said);
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
  });
});

function expectRows(end: End, always: Scenario['always'], said: string): void {
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

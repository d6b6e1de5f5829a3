import { WithStartWorkflowOperation } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelOrder } from '../../src/database/cancel-order.ts';
import { loseDelivery } from '../../src/database/lose-delivery.ts';
import { openDeadLetter } from '../../src/database/open-dead-letter.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { recordRefunds } from '../../src/database/record-refunds.ts';
import { API_SCOPES, rotateApiKey } from '../../src/database/rotate-api-key.ts';
import type { DeadLetterKind } from '../../src/domain/dead-letter-choices.ts';
import { paymentWorkflowId } from '../../src/domain/keys.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { decidedStartOptions } from '../../src/relay/start-options.ts';
import { decideUpdate, type WorkflowName } from '../../src/workflows/messages.ts';
import { callerWithKey, type ApiCaller } from '../support/api-client.ts';
import { openCommandLine, type CommandLine } from '../support/command-line.ts';
import { forgetHistory } from '../support/forget-history.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { startProcess } from '../support/processes.ts';
import { facts, look, refundFacts, seedEvent, seedOrder } from '../support/seed.ts';
import { seedEnd, seedPayout, seedRefund } from '../support/seed-storm-of-moves.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';

let temporal: TestNamespace;
let lab: PaymentLab;
let api: ApiCaller;
let commands: CommandLine;
beforeAll(async () => {
  temporal = await createTestNamespace();
  // Without the relay a run has begun only where somebody decides by an update.
  lab = await openPaymentLab({ temporal, relay: false });
  // What is in doubt stays in doubt while it is decided.
  await lab.control('faults', { error_before: { status: 503 } }, 'PUT');
  const server = await startProcess('server', { databaseUrl: lab.db.url, temporal });
  const keyOf = (client: string) => rotateApiKey(lab.db.url, { client, scopes: API_SCOPES });
  api = callerWithKey(server.url, await keyOf('shop'));
  commands = openCommandLine({
    ...{ api_url: server.url, api_key: await keyOf('terminal'), database_url: lab.db.url },
    ...{ simulator_url: lab.simulator.url, sources: { sim: { webhook_secret: 'whsec_x' } } },
  });
});
afterAll(async () => {
  commands.remove();
  await lab.close();
});

const paid = async (name: string): Promise<void> => {
  await seedOrder(lab.db.pool, { id: `ord_${name}` });
  await look(lab.db.pool, facts({ paymentId: `pay_${name}`, orderId: `ord_${name}` }));
};

async function refundInTrouble(name: string, end: 'rejected' | 'unknown'): Promise<void> {
  await paid(name);
  await seedRefund(lab.db.pool, `rf_${name}`, `pay_${name}`, 3_000n);
  await seedEnd(lab.db.pool, 'refund', `rf_${name}`, end);
}

async function captured(name: string, more: Partial<Parameters<typeof facts>[0]>, later = false): Promise<void> {
  const about = { paymentId: `pay_${name}`, orderId: `ord_${name}` };
  await seedEvent(lab.db.pool, { id: `evt_${name}`, ...about });
  const at = new Date(Date.now() + (later ? 25 * 3_600_000 : 0));
  await look(lab.db.pool, facts({ ...about, ...more }), { at, policies: { lateCapture: 'review' } });
}

/** Only this is told of it: whoever opens one is another part of the product. */
const opened = (name: string, kind: DeadLetterKind): Promise<void> =>
  inTransaction(lab.db.pool, (tx) =>
    openDeadLetter(tx, {
      ...{ id: `${kind}:sim:pay_${name}`, kind, source: 'sim', eventId: `evt_${name}`, paymentId: `pay_${name}` },
      lastError: 'trouble',
    }),
  );

/** How the product comes to ask a person, for each kind of question. */
const TROUBLE: Readonly<Record<DeadLetterKind, (name: string) => Promise<void>>> = {
  refund_failed: (name) => refundInTrouble(name, 'rejected'),
  outcome_unknown: (name) => refundInTrouble(name, 'unknown'),
  payout_failed: async (name) => seedEnd(lab.db.pool, 'payout', await seedPayout(lab.db.pool, name), 'rejected'),
  wrong_currency: async (name) => {
    await seedOrder(lab.db.pool, { id: `ord_${name}` });
    await captured(name, { currency: 'USD' });
  },
  late_capture: async (name) => {
    await seedOrder(lab.db.pool, { id: `ord_${name}` });
    await cancelOrder(lab.db.pool, { orderId: `ord_${name}`, policies: DEFAULT_POLICIES, cause: 'test' });
    await captured(name, {});
  },
  unmatched_payment: (name) => captured(name, {}, true),
  unknown_at_gateway: async (name) => {
    await seedEvent(lab.db.pool, { id: `evt_${name}`, paymentId: `pay_${name}` });
    let at = Date.now();
    for (let looks = 0; looks < 5; looks += 1) {
      const shown = { paymentId: `pay_${name}`, unknown: true } as const;
      at += (await look(lab.db.pool, shown, { at: new Date(at) })).nextLookMs ?? 0;
    }
  },
  event_unreadable: async (name) => {
    await seedOrder(lab.db.pool, { id: `ord_${name}` });
    await seedEvent(lab.db.pool, { id: `evt_${name}`, paymentId: `pay_${name}`, orderId: 'ord_of_somebody_else' });
    await look(lab.db.pool, facts({ paymentId: `pay_${name}`, orderId: `ord_${name}` }));
  },
  refunds_exceed_captured: async (name) => {
    await paid(name);
    await seedRefund(lab.db.pool, `rf_${name}`, `pay_${name}`, 8_000n);
    await recordRefunds(lab.db.pool, {
      ...{ source: 'sim', paymentId: `pay_${name}`, orderId: `ord_${name}`, cause: 'test', answered: null },
      policies: DEFAULT_POLICIES,
      facts: [refundFacts({ refundId: `re_${name}`, paymentId: `pay_${name}`, amount: 5_000n })],
    });
  },
  order_not_payable: (name) => opened(name, 'order_not_payable'),
  delivery_failed: async (name) => {
    const event = await lab.row<{ id: bigint }>(
      `insert into outbox (event_type, aggregate_id, aggregate_version, payload, published_at)
       values ('payout.paid', $1, 1, '{}', now()) returning id`,
      `payout:${name}`,
    );
    const key = { consumer: 'webhook', target: `ep_${name}`, outboxId: String(event?.id) };
    await lab.db.pool.query(
      `insert into consumer_deliveries (consumer, target, event_id, event_type, status)
       values ($1, $2, $3, 'payout.paid', 'in_progress')`,
      [key.consumer, key.target, `outbox:${key.outboxId}`],
    );
    await loseDelivery(lab.db.pool, key, 'it was away');
  },
};
const KINDS = Object.keys(TROUBLE) as DeadLetterKind[];

interface Letter {
  readonly id: string;
  readonly workflow_id: string | null;
}

/** Brings one about and answers it as it stands in its table. */
async function inTrouble(kind: DeadLetterKind, way: string): Promise<Letter> {
  const name = `${kind}_${way}`;
  await TROUBLE[kind](name);
  const found = await lab.row<Letter & { kind: string }>(
    `select id, kind, workflow_id from dead_letters where status = 'open' and id like '%' || $1 || '%'`,
    name,
  );
  expect(found?.kind).toBe(kind);
  return found!;
}

const NOTE = 'as agreed';
const WORKFLOWS: Readonly<Record<string, WorkflowName>> = {
  refund: 'refundPayment',
  payout: 'payOutSeller',
  outbox: 'deliverEvent',
};

/** What each way answers, in one word: `decided`, or `already_decided`. */
const WAYS: Readonly<Record<string, (letter: Letter) => Promise<string>>> = {
  api: async ({ id }) => {
    const path = `/v1/dead-letters/${encodeURIComponent(id)}/decide`;
    const { status, body } = await api.post(path, { action: 'give_up', note: NOTE });
    return status === 409 ? body.code : body.status;
  },
  cli: async ({ id }) => {
    const said = await commands.run(['dead-letters', 'decide', id, 'give_up', '--note', NOTE]);
    if (said.exitCode === 0) return said.out.startsWith('Decided: give_up.') ? 'decided' : said.out;
    return said.exitCode === 1 && said.err.includes('(already_decided)') ? 'already_decided' : said.err;
  },
  update: async ({ id, workflow_id: workflowId }) => {
    // Whatever waits hears it; what names no workflow of its own is heard by any payment's.
    const to = workflowId ?? paymentWorkflowId('sim', 'pay_of_somebody');
    const workflow = WORKFLOWS[to.split(':')[0] ?? ''] ?? 'processPayment';
    const { result } = await lab.client.workflow.executeUpdateWithStart(decideUpdate, {
      args: [{ action: 'give_up', note: NOTE, by: 'back-office', dead_letter_id: id }],
      startWorkflowOperation: new WithStartWorkflowOperation(workflow, decidedStartOptions(to)),
    });
    return result;
  },
};
const WHO: Readonly<Record<string, string>> = { api: 'shop', cli: 'terminal', update: 'back-office' };

describe.each(KINDS)('a dead letter %s', (kind) => {
  it.each(Object.keys(WAYS))('is decided by %s, once, and keeps who and why', async (way) => {
    const letter = await inTrouble(kind, way);
    expect(await WAYS[way]?.(letter)).toBe('decided');
    expect(await lab.row('select status, decision from dead_letters where id = $1', letter.id)).toMatchObject({
      status: 'decided',
      decision: { action: 'give_up', note: NOTE, by: WHO[way] },
    });
    expect(await WAYS['api']?.(letter)).toBe('already_decided');
  });

  it('is decided by one of two who decide at the same time, whichever way they take', async () => {
    const letter = await inTrouble(kind, 'race');
    const ways = ['api', 'update', 'api', 'update'];
    const said = await Promise.all(ways.map((way) => WAYS[way]!(letter)));
    expect(said.filter((one) => one === 'decided')).toHaveLength(1);
    expect(said.filter((one) => one === 'already_decided')).toHaveLength(3);
    const history = `select count(*) as n from state_transitions where machine = 'dead_letter' and object_id = $1 and to_status = 'decided'`;
    expect(await lab.row(history, letter.id)).toEqual({ n: 1n });
  });
});

describe('with all history of the engine gone', () => {
  it('every one of them is still decided, whoever asks', async () => {
    expect(await forgetHistory(temporal)).toBeGreaterThan(0);
    const { rows } = await lab.db.pool.query<Letter>(
      `select id, workflow_id from dead_letters where status = 'decided' order by id`,
    );
    expect(rows.length).toBe(KINDS.length * 4);
    for (const letter of rows) expect([letter.id, await WAYS['api']?.(letter)]).toEqual([letter.id, 'already_decided']);
    for (const way of ['cli', 'update']) {
      const [first] = rows;
      expect(await WAYS[way]?.(first!)).toBe('already_decided');
    }
  }, 300_000);
});

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHandOvers, type HandOver } from '../../src/api/receive/hand-overs.ts';
import type { Delivery } from '../../src/database/delivery-statement.ts';
import { storeDeliveries } from '../../src/database/store-delivery.ts';
import { confirmPayment } from '../../src/relay/confirm-payment.ts';
import { handOver } from '../../src/relay/hand-over.ts';
import { paymentStartOptions } from '../../src/relay/start-options.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { paymentEventSignal, paymentStateQuery } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';

const log = createLogger('silent', 'test');
/** Beyond what Temporal's limits let one run take: 10,000 signals. */
const EVENTS = 12_000;
/** As the receiver groups them. */
const GROUP = 100;
const PATIENCE_MS = 200_000;
/** Temporal gives up a step of a run to which more than 100 came meanwhile. */
const SIGNALS_AT_ONCE = 60;

let lab: PaymentLab;
beforeAll(async () => {
  lab = await openPaymentLab();
});
afterAll(() => lab.close());

function delivery(n: number): Delivery {
  const body = Buffer.from(JSON.stringify({ n }));
  return {
    ...{ source: 'sim', body, headers: '{}', remoteAddress: null, payload: body.toString() },
    bodySha256: createHash('sha256').update(body).digest(),
    event: {
      ...{ eventId: `evt_${n}`, eventType: 'payment.captured', state: 'pending', reason: null, subject: 'payment' },
      ...{
        objectId: 'pay_1',
        paymentId: 'pay_1',
        orderId: 'ord_1',
        claimed: 'captured',
        ...{ amount: null, currency: null, fee: null, withheld: null },
        reference: null,
        occurredAt: null,
      },
    },
  };
}

let stored = 0;
/** Stores them as the receiver does and begins handing each over. */
async function flood(start: (event: HandOver) => void): Promise<void> {
  const groups = Array.from({ length: EVENTS / GROUP }, (_, at) => at).values();
  const storeGroups = async () => {
    for (const at of groups) {
      const group = Array.from({ length: GROUP }, (_, n) => delivery(at * GROUP + n));
      const answers = await storeDeliveries(lab.db.pool, group);
      stored += group.length;
      for (const [n, { event }] of group.entries()) {
        if (answers[n]?.handOver != null)
          start({ source: 'sim', eventId: event.eventId, paymentId: 'pay_1', orderId: 'ord_1' });
      }
    }
  };
  await Promise.all([storeGroups(), storeGroups()]);
}

/** All runs of the payment: how many, and what their histories hold. */
async function runs() {
  const count = { runs: 0, signals: 0, steps: 0, longest: 0 };
  for await (const run of lab.client.workflow.list({ query: `WorkflowId = 'payment:sim:pay_1'` })) {
    const { events } = await lab.client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
    count.runs += 1;
    count.signals += events?.filter((event) => event.workflowExecutionSignaledEventAttributes != null).length ?? 0;
    count.steps += events?.filter((event) => event.markerRecordedEventAttributes != null).length ?? 0;
    count.longest = Math.max(count.longest, events?.length ?? 0);
  }
  return count;
}

async function events(where = 'true'): Promise<number> {
  const row = await lab.row<{ n: bigint }>(`select count(*) as n from webhook_events where ${where}`);
  return Number(row?.n ?? 0n);
}

it(`each of ${EVENTS} events of one payment is handled, in few steps, and a browser is answered meanwhile`, async () => {
  await seedOrder(lab.db.pool, { id: 'ord_1' });
  await lab.pay('pay_1', 'ord_1');
  const deps = { client: lab.client.workflow, pool: lab.db.pool };
  const handOvers = createHandOvers({ handOver: ([event, ...others]) => handOver(deps, event, others), log });
  const flooding = flood((event) => handOvers.start(event));
  await eventually(
    () => `half of them are stored, and not ${stored}`,
    () => stored > EVENTS / 2,
    PATIENCE_MS,
  );
  // Without the API's five seconds: that it is answered is the promise, and how soon depends on the machine.
  const answer = await confirmPayment(lab.client.workflow, {
    ...{ source: 'sim', paymentId: 'pay_1', orderId: null },
    caller: 'the browser',
  });
  const answered = await events(`state = 'processed'`);
  await flooding;
  await eventually('all are processed', async () => (await events(`state = 'processed'`)) === EVENTS, PATIENCE_MS);

  expect(answer).toBe('already_paid_same_payment');
  expect(await lab.row(`select count(*) as n from processed_events`)).toEqual({ n: BigInt(EVENTS) });
  expect(await lab.row(`select count(*) as n from bookings`)).toEqual({ n: 1n });
  expect(await events(`outcome = 'marked_paid'`)).toBe(1);
  const seen = await runs();
  process.stderr.write(`${EVENTS} events: ${JSON.stringify({ ...seen, processedWhenAnswered: answered })}\n`);
  // One for each would be 12,000, and Temporal takes 10,000 in one run.
  expect(seen.signals).toBeLessThan(EVENTS / 20);
  // Far below the 4,096 at which Temporal suggests a fresh run.
  expect(seen.longest).toBeLessThan(2_000);
}, 300_000);

it('a run that has taken in much goes on as a fresh one that carries nothing, and loses nothing', async () => {
  const paymentId = 'pay_2';
  await seedOrder(lab.db.pool, { id: 'ord_2' });
  // The gateway never shows what the first event claims, so that the run stays open and waits.
  await lab.pay(paymentId, 'ord_2', { status: 'pending' });
  const event = async (id: string, type: string) =>
    seedEvent(lab.db.pool, { id, paymentId, orderId: 'ord_2', type: `payment.${type}` });
  const signal = async (id: string) =>
    lab.client.workflow.signalWithStart('processPayment', {
      ...paymentStartOptions('sim', paymentId, 'ord_2'),
      ...{ signal: paymentEventSignal, signalArgs: [id] },
    });
  await event('evt_waits', 'captured');
  await signal('evt_waits');
  const handle = lab.client.workflow.getHandle(`payment:sim:${paymentId}`);
  const first = (await handle.describe()).runId;
  let round = 0;
  // As from many processes at once, each with signals of its own, until Temporal suggests a fresh run.
  for (; (await handle.describe()).runId === first; round += 1) {
    await event(`evt_round_${round}`, 'pending');
    await Promise.all(Array.from({ length: SIGNALS_AT_ONCE }, () => signal(`evt_round_${round}`)));
    const done = `event_id = 'evt_round_${round}' and state = 'processed'`;
    await eventually(done, async () => (await events(done)) === 1, PATIENCE_MS);
  }
  const now = await handle.describe();
  expect(now.status.name).toBe('RUNNING');
  expect(now.historyLength).toBeLessThan(1_000);
  const { events: history } = await handle.fetchHistory();
  expect(history?.[0]?.workflowExecutionStartedEventAttributes).toMatchObject({
    continuedExecutionRunId: first,
    input: null,
  });
  await eventually(
    'the fresh run waits for the gateway',
    async () => (await handle.query(paymentStateQuery)).waiting_for === 'gateway',
    PATIENCE_MS,
  );
  expect(await events(`event_id like 'evt_round_%' and state = 'processed'`)).toBe(round);
}, 400_000);

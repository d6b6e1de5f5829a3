import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Dependencies } from '../../src/activities/dependencies.ts';
import { createSettlePayment } from '../../src/activities/settle-payment.ts';
import { GatewayError } from '../../src/domain/gateway-error.ts';
import type { DisputeFacts } from '../../src/domain/gateway-facts.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { standardSource } from '../support/engine.ts';
import { facts, refundFacts, seedEvent, seedOrder } from '../support/seed.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const shown: DisputeFacts = {
  ...{ disputeId: 'dp_1', paymentId: 'pay_1', status: 'opened', amount: 10_000n, currency: 'EUR', withheld: true },
  ...{ fee: null, feeCurrency: null, openedAt: null },
};

it('a dispute that cannot be read keeps its own events waiting, and nothing else of its payment', async () => {
  const refused = new GatewayError('The key may not read disputes.', { kind: 'temporary', code: 'unauthorized' });
  let fetchDispute = (): Promise<DisputeFacts> => Promise.reject(refused);
  const [name, source] = standardSource('http://127.0.0.1:2');
  const gateway: Gateway = {
    ...source.gateway,
    capabilities: { ...source.gateway.capabilities, showsDisputes: true },
    fetchPayment: () => Promise.resolve(facts({ paymentId: 'pay_1', orderId: 'ord_1', amountRefunded: 300n })),
    listRefunds: () => Promise.resolve([refundFacts({ refundId: 're_1', paymentId: 'pay_1', amount: 300n })]),
    fetchDispute: () => fetchDispute(),
  };
  const settlePayment = createSettlePayment({
    ...{ pool: db.pool, sources: new Map([[name, { ...source, gateway }]]), policies: DEFAULT_POLICIES },
    ...{ metrics: createMetrics(), log: createLogger('silent', 'test'), wakeRelay: () => undefined },
  } as unknown as Dependencies);
  const settle = (at: number) => settlePayment({ source: name, paymentId: 'pay_1', callers: [], look: true, at });
  const events = async () =>
    (await db.pool.query('select event_id as id, state, last_error as why from webhook_events order by event_id')).rows;

  await seedOrder(db.pool, { id: 'ord_1' });
  await seedEvent(db.pool, { id: 'evt_dispute', paymentId: 'pay_1', objectId: 'dp_1', type: 'dispute.opened' });
  await seedEvent(db.pool, { id: 'evt_paid', paymentId: 'pay_1' });
  const at = Date.now();
  expect(await settle(at)).toMatchObject({ outcome: 'marked_paid', pendingEvents: 1, nextLookMs: 5_000 });
  expect(await events()).toEqual([
    { id: 'evt_dispute', state: 'pending', why: 'The key may not read disputes.' },
    { id: 'evt_paid', state: 'processed', why: null },
  ]);
  const { rows } = await db.pool.query('select status, amount_paid, amount_refunded, disputed from orders');
  expect(rows).toEqual([{ status: 'paid', amount_paid: 10_000n, amount_refunded: 300n, disputed: false }]);

  fetchDispute = () => Promise.resolve(shown);
  expect(await settle(at + 5_000)).toMatchObject({ pendingEvents: 0 });
  expect(await events()).toMatchObject([{ id: 'evt_dispute', state: 'processed' }, { id: 'evt_paid' }]);
  expect((await db.pool.query('select status, withheld from disputes')).rows).toEqual([
    { status: 'opened', withheld: true },
  ]);
});

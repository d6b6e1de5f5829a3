import { announce } from '../../src/database/announce.ts';
import { createEndpoint } from '../../src/database/endpoints.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { deliveryStartOptions } from '../../src/relay/start-options.ts';
import { decideUpdate, deliveryStateQuery } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import type { PaymentLab } from '../support/payment-lab.ts';
import { startReceiver, type ReceiverAnswer } from '../support/receiver.ts';
import type { Scenario } from './scenario-steps.ts';

/** A payout of `{key}` that is announced to endpoints, each of which gives these answers one after the other. */
async function tell(lab: PaymentLab, key: string, endpoints: readonly (readonly ReceiverAnswer[])[]): Promise<string> {
  const { pool } = lab.db;
  await pool.query('update endpoints set event_types = $1', [['order.paid']]);
  for (const [at, answers] of endpoints.entries()) {
    const receiver = await startReceiver();
    const left = [...answers];
    receiver.answer(() => left.shift() ?? { status: 200 });
    await createEndpoint(pool, {
      ...{ id: `ep_${key}_${at}`, url: receiver.url, event_types: ['payout.paid'], created_by: 'test' },
      secret: `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`,
    });
  }
  const payload = { payout_id: key, source: 'sim', amount: '5000', currency: 'EUR' };
  await inTransaction(pool, (tx) =>
    announce(tx, null, [{ eventType: 'payout.paid', aggregateId: `payout:${key}`, payload }]),
  );
  const row = await lab.row<{ id: bigint }>('select id from outbox where aggregate_id = $1', `payout:${key}`);
  const options = deliveryStartOptions(row?.id ?? 0n, 'payout.paid', payload);
  await lab.client.workflow.start('deliverEvent', options);
  return options.workflowId;
}

async function isDead(lab: PaymentLab, workflowId: string): Promise<void> {
  const handle = lab.client.workflow.getHandle(workflowId);
  await eventually('a delivery is dead', async () =>
    (await handle.query(deliveryStateQuery)).deliveries.some(({ status }) => status === 'dead'),
  );
}

const GONE: ReceiverAnswer = { status: 410 };
const BUSY: ReceiverAnswer = { status: 503, headers: { 'retry-after': '3600' } };

export const DELIVERY_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'deliver-event.told-to-two': async (lab, key) => {
    return { workflowId: await tell(lab, key, [[], []]), waits: false };
  },
  'deliver-event.told-to-nobody': async (lab, key) => ({ workflowId: await tell(lab, key, []), waits: false }),
  'deliver-event.waits-for-its-next-try': async (lab, key) => {
    const workflowId = await tell(lab, key, [[], [BUSY]]);
    await eventually('the other one has it', () =>
      lab.row(`select from consumer_deliveries where event_id = $1 and status = 'done'`, workflowId),
    );
    await eventually('the busy one has said so', () =>
      lab.row('select from consumer_deliveries where event_id = $1 and last_status = 503', workflowId),
    );
    return { workflowId, waits: true };
  },
  'deliver-event.waits-for-a-person': async (lab, key) => {
    const workflowId = await tell(lab, key, [[], [GONE]]);
    await isDead(lab, workflowId);
    return { workflowId, waits: true };
  },
  'deliver-event.told-after-a-decision': async (lab, key) => {
    const workflowId = await tell(lab, key, [[GONE]]);
    await isDead(lab, workflowId);
    const decision = { action: 'retry', note: 'the receiver is back', by: 'back-office' } as const;
    await lab.client.workflow.getHandle(workflowId).executeUpdate(decideUpdate, { args: [decision] });
    return { workflowId, waits: false };
  },
};

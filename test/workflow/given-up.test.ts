import { afterAll, beforeAll, expect, it } from 'vitest';
import { decideDeadLetter } from '../../src/database/decide-dead-letter.ts';
import type { MoneyMoveKind } from '../../src/database/money-move.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { reserveAuthorizationMove } from '../../src/database/reserve-authorization-move.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { decidedStartOptions } from '../../src/relay/start-options.ts';
import type { WorkflowName } from '../../src/workflows/messages.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { facts, look, seedOrder } from '../support/seed.ts';
import { seedCard, seedEnd, seedPayout, seedRefund } from '../support/seed-storm-of-moves.ts';

let lab: PaymentLab;
beforeAll(async () => {
  lab = await openPaymentLab({ relay: false });
});
afterAll(() => lab.close());

const KINDS: readonly (readonly [MoneyMoveKind, WorkflowName, () => Promise<string>])[] = [
  [
    'refund',
    'refundPayment',
    async () => {
      await seedOrder(lab.db.pool, { id: 'ord_refunded' });
      await lab.pay('pay_refunded', 'ord_refunded');
      await look(lab.db.pool, facts({ paymentId: 'pay_refunded', orderId: 'ord_refunded' }));
      await seedRefund(lab.db.pool, 'rf_1', 'pay_refunded', 4_000n);
      return 'rf_1';
    },
  ],
  ['payout', 'payOutSeller', () => seedPayout(lab.db.pool, 'seller')],
  [
    'charge',
    'chargeSavedCard',
    async () => {
      await seedOrder(lab.db.pool, { id: 'ord_charged' });
      return seedCard(lab.db.pool, 'charge', 'charged');
    },
  ],
  ['top_up', 'topUpWallet', () => seedCard(lab.db.pool, 'top_up', 'filled')],
  ['capture', 'capturePayment', () => authorised('capture')],
  ['void', 'voidPayment', () => authorised('void')],
];

async function authorised(kind: 'capture' | 'void'): Promise<string> {
  const [paymentId, orderId] = [`pay_${kind}`, `ord_${kind}`];
  await seedOrder(lab.db.pool, { id: orderId });
  await lab.pay(paymentId, orderId, { status: 'authorized' });
  await look(lab.db.pool, facts({ paymentId, orderId, status: 'authorized' }));
  const request = { kind, source: 'sim', paymentId, amount: null, requestedBy: 'test' };
  await inTransaction(lab.db.pool, (tx) => reserveAuthorizationMove(tx, request));
  return `sim:${paymentId}`;
}

async function atGateway(): Promise<unknown> {
  const answer = await fetch(`${lab.simulator.url}/sim/state`);
  const { payments, refunds, payouts } = (await answer.json()) as Record<string, unknown>;
  return { payments, refunds, payouts };
}

it.each(KINDS)(
  'a %s in doubt that a person gave up is not sent any more, nor asked about again',
  async (kind, workflow, reserve) => {
    const id = await reserve();
    await seedEnd(lab.db.pool, kind, id, 'unknown');
    const workflowId = `${kind}:${id}`;
    const { id: deadLetterId } = (await lab.row<{ id: string }>(
      `select id from dead_letters where workflow_id = $1`,
      workflowId,
    ))!;
    const decision = {
      deadLetterId,
      action: 'give_up',
      note: 'written off',
      outcome: null,
      gatewayId: null,
      by: 'ops',
    } as const;
    expect(await decideDeadLetter(lab.db.pool, decision, DEFAULT_POLICIES)).toEqual({ result: 'decided' });
    const before = await atGateway();
    // The decision wakes the run, or begins a fresh one.
    const options = decidedStartOptions(workflowId);
    expect(await lab.client.workflow.execute(workflow, options)).toBe('unknown');
    expect(await atGateway()).toEqual(before);
    expect(await lab.row('select status from dead_letters where id = $1', deadLetterId)).toEqual({ status: 'decided' });
  },
);

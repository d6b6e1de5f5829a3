import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refundMessages } from '../../src/workflows/messages.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedEvent, seedOrder } from '../support/seed.ts';
import { eventually } from '../support/eventually.ts';

let lab: PaymentLab;
beforeAll(async () => {
  lab = await openPaymentLab();
});
afterAll(() => lab.close());

interface RefundRow {
  id: string;
  status: string;
  amount: bigint;
  failure_code: string | null;
  payment_id: string;
}

/** Two captured payments of one order; the second one's refund is what the tests look at. */
async function payTwice(name: string): Promise<{ extra: string; refundId: string; workflowId: string }> {
  const orderId = `ord_${name}`;
  await seedOrder(lab.db.pool, { id: orderId });
  for (const n of ['kept', 'extra']) {
    await lab.pay(`pay_${name}_${n}`, orderId);
    await seedEvent(lab.db.pool, { id: `evt_${name}_${n}`, paymentId: `pay_${name}_${n}`, orderId });
    await eventually(`${n} is processed`, async () =>
      lab.row(`select 1 from webhook_events where event_id = $1 and state = 'processed'`, `evt_${name}_${n}`),
    );
  }
  const refundId = `extra_capture:sim:pay_${name}_extra`;
  return { extra: `pay_${name}_extra`, refundId, workflowId: `refund:${refundId}` };
}

const refundIs = (id: string, status: string, limitMs?: number) =>
  eventually(
    `refund ${id} is ${status}`,
    () => lab.row<RefundRow>('select * from refunds where id = $1 and status = $2', id, status),
    limitMs,
  );

describe('a refund whose answer is lost', () => {
  it.each(['cut', 'half', 'garble'])('is found by its reference and not sent again (%s)', async (how) => {
    await lab.control('faults', { lose_answer: { chance: 1, calls: ['refunds.writes'], next: 1, how } }, 'PUT');
    const { extra, refundId } = await payTwice(`lost_${how}`);
    await refundIs(refundId, 'succeeded');
    expect(await lab.refundsAtGateway(extra)).toMatchObject([{ amount: 10_000, reference: `refund:${refundId}` }]);
  });

  it('and whose work is finished only after the first look-up is still one refund', async () => {
    await lab.control(
      'faults',
      {
        late_work: { chance: 1, calls: ['refunds.writes'], next: 1, how: 'cut', after_ms: [3_000, 3_000] },
        forget_keys: 1,
      },
      'PUT',
    );
    const { extra, refundId } = await payTwice('late');
    await refundIs(refundId, 'succeeded', 30_000);
    expect(await lab.refundsAtGateway(extra)).toHaveLength(1);
  });

  it('is sent again under the same reference when two look-ups apart find nothing', async () => {
    await lab.control(
      'faults',
      { error_before: { chance: 1, calls: ['refunds.writes'], next: 1, status: 503 } },
      'PUT',
    );
    const { extra, refundId } = await payTwice('absent');
    await refundIs(refundId, 'succeeded', 30_000);
    expect(await lab.refundsAtGateway(extra)).toHaveLength(1);
    expect(
      await lab.row('select sends, unanswered_since from gateway_calls where reference = $1', `refund:${refundId}`),
    ).toEqual({
      sends: 2,
      unanswered_since: null,
    });
  });
});

describe('a refund that the gateway refuses', () => {
  it('goes before a human and keeps its workflow open', async () => {
    await lab.control(
      'faults',
      { refuse: { chance: 1, calls: ['refunds.writes'], next: 1, status: 402, code: 'insufficient_balance' } },
      'PUT',
    );
    const { extra, refundId, workflowId } = await payTwice('refused');
    const row = await refundIs(refundId, 'needs_review');
    expect(row.failure_code).toBe('insufficient_balance');
    expect(
      await lab.row('select kind, extra_capture, workflow_id from dead_letters where refund_id = $1', refundId),
    ).toEqual({
      kind: 'refund_failed',
      extra_capture: true,
      workflow_id: workflowId,
    });
    const handle = lab.client.workflow.getHandle(workflowId);
    await eventually('the run says so', async () => (await handle.query(refundMessages.state)).waiting_for === 'human');
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(await lab.refundsAtGateway(extra)).toHaveLength(0);
  });

  it('because somebody else refunded it ends as already refunded, and nobody is asked', async () => {
    // The one who refunds by hand is faster than our workflow: its call is refused until then.
    await lab.control(
      'faults',
      { rate_limit: { chance: 1, calls: ['refunds.writes'], next: 1, retry_after: 2 } },
      'PUT',
    );
    const { extra, refundId } = await payTwice('foreign');
    await lab.control('refunds', { payment_id: extra, amount: 10_000, deliver: false });
    const row = await refundIs(refundId, 'failed');
    expect(row.failure_code).toBe('already_refunded');
    expect(await lab.row('select 1 from dead_letters where payment_id = $1', extra)).toBeUndefined();
    expect(await lab.refundsAtGateway(extra)).toHaveLength(1);
  });
});

describe('a refund that the gateway calls pending', () => {
  it('is over when its event says so', async () => {
    await lab.control(
      'faults',
      { pending: { chance: 1, calls: ['refunds.writes'], next: 1, complete_ms: null } },
      'PUT',
    );
    const { extra, refundId, workflowId } = await payTwice('pending');
    const placed = await eventually('the gateway has it', () =>
      lab.row<{ gateway_refund_id: string }>(
        'select * from refunds where id = $1 and gateway_refund_id is not null',
        refundId,
      ),
    );
    await lab.control(`refunds/${placed.gateway_refund_id}/succeed`, { deliver: false });
    await seedEvent(lab.db.pool, {
      id: 'evt_pending_refund',
      paymentId: extra,
      type: 'refund.succeeded',
      objectId: placed.gateway_refund_id,
    });
    await refundIs(refundId, 'succeeded');
    expect(await lab.client.workflow.getHandle(workflowId).result()).toBe('succeeded');
  });
});

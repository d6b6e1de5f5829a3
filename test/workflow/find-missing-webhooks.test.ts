import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ListedPage } from '../../src/activities/find-missing-webhooks.ts';
import { readTimeline } from '../../src/database/read-timeline.ts';
import { readEvent } from '../../src/database/read-event.ts';
import { runAudit } from '../../src/database/audit.ts';
import { timelineEntries } from '../../src/api/timeline-entry.ts';
import { findMissingStartOptions } from '../../src/relay/start-options.ts';
import type { MissingWebhooks } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedOrder } from '../support/seed.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { askForService } from '../support/ask-for-service.ts';
import type { WorkflowsService } from '../support/services.ts';

let lab: PaymentLab;
let temporal: TestNamespace;
beforeAll(async () => {
  temporal = await createTestNamespace();
  // Whatever is listed is old enough to be missed.
  lab = await openPaymentLab({ temporal, policies: { missingWebhookAfterMs: 1 } });
});
afterAll(() => lab.close());
beforeEach(() => lab.control('reset'));
afterEach(() => lab.db.pool.query('truncate event_listings'));

const find = () =>
  lab.client.workflow.execute('findMissingWebhooks', findMissingStartOptions('sim')) as Promise<MissingWebhooks>;
const paid = (orderId: string) =>
  eventually(`${orderId} is paid`, () => lab.row(`select 1 from orders where id = $1 and status = 'paid'`, orderId));

/** An order, and a payment of it at the gateway whose webhook is never sent; answers the event's id. */
async function lostPayment(name: string, faults: object = {}): Promise<string> {
  await seedOrder(lab.db.pool, { id: `ord_${name}` });
  await lab.control('faults', faults, 'PUT');
  const { event_id } = await lab.control('payments', {
    ...{ payment_id: `pay_${name}`, order_id: `ord_${name}`, amount: 10_000, currency: 'EUR' },
  });
  await lab.control('faults', {}, 'PUT');
  return event_id as string;
}

describe('an event whose webhook never came', () => {
  it('is found at the gateway, pays its order, and can be told from one that was delivered', async () => {
    const id = await lostPayment('lost');
    expect(await find()).toEqual({ listed: 1, found: 1, left: 0, examples: [id], unfinished: false, problem: null });
    await paid('ord_lost');
    const event = await readEvent(lab.db.pool, 'sim', id);
    expect(event).toMatchObject({ event_type: 'payment.captured', found_at: expect.any(String), deliveries: [] });
    expect(JSON.parse(Buffer.from(event!.raw_base64!, 'base64').toString())).toMatchObject({
      ...{ type: 'payment.captured', data: { payment_id: 'pay_lost' } },
    });
    const lines = (await readTimeline(lab.db.pool, 'sim', 'pay_lost')).flatMap((row) => timelineEntries(row, true));
    expect(lines[0]).toMatchObject({
      ...{ kind: 'found', text: `payment.captured ${id} found at the gateway; its webhook never came` },
    });
    expect(lines.some(({ kind }) => kind === 'delivery')).toBe(false);
    expect(await lab.engine.metrics.webhooksMissing.get()).toMatchObject({
      values: [{ value: 1, labels: { source: 'sim' } }],
    });
    expect((await runAudit(lab.db.pool)).violations).toEqual([]);
  });

  it('is known from then on: it is listed again, and nothing is done', async () => {
    await lostPayment('once');
    await find();
    expect(await find()).toMatchObject({ listed: 1, found: 0 });
  });
});

describe('a list that never ends', () => {
  it('is left after a bounded number of pages, and says that it goes on', async () => {
    let pages = 0;
    const endless = (): Promise<ListedPage> => {
      pages += 1;
      return Promise.resolve({ listed: 100, found: [`evt_${pages}`], left: 1, more: true, problem: null });
    };
    const connection = await NativeConnection.connect({ address: temporal.address });
    const taskQueue = 'endless';
    const worker = await Worker.create({
      ...{ connection, namespace: temporal.namespace, taskQueue },
      workflowBundle: await askForService<WorkflowsService>('/workflows'),
      activities: { findMissingWebhooks: endless },
    });
    const options = { ...findMissingStartOptions('endless'), taskQueue };
    const result = (await worker.runUntil(
      temporal.client.workflow.execute('findMissingWebhooks', options),
    )) as MissingWebhooks;
    await connection.close();
    expect(pages).toBeLessThanOrEqual(250);
    expect(result).toMatchObject({ listed: pages * 100, found: pages, left: pages, unfinished: true });
    expect(result.examples).toHaveLength(Math.min(pages, 100));
  }, 120_000);
});

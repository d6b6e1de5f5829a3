import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AlertMessage } from '../../src/domain/plan-alerts.ts';
import { alertText } from '../../src/notify/alerts/alert-text.ts';
import { TASK_QUEUE } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { seedOrder } from '../support/seed.ts';

const told: AlertMessage[] = [];
let lab: PaymentLab;
beforeAll(async () => {
  const send = (message: AlertMessage) => Promise.resolve(void told.push(message));
  lab = await openPaymentLab({ alerts: { channels: [{ name: 'log', send }] } });
});
afterAll(() => lab.close());

const audit = () => lab.client.workflow.execute('audit', { workflowId: 'audit', taskQueue: TASK_QUEUE, args: [] });
const messages = (type: AlertMessage['type']) =>
  told.filter((message) => message.type === type).map((message) => alertText(message));

it('a broken promise is told to people once, and its end as well', async () => {
  await seedOrder(lab.db.pool, { id: 'ord_broken' });
  expect(await audit()).toMatchObject({ violations: [] });
  await lab.db.pool.query(`update orders set amount_refunded = 5 where id = 'ord_broken'`);
  expect(await audit()).toMatchObject({
    violations: expect.arrayContaining([{ invariant: 'order_amount_refunded', requirement: 'C4', count: 1 }]),
  });
  await eventually('people are told', () => Promise.resolve(told.length > 0));
  await audit();
  await lab.db.pool.query(`update orders set amount_refunded = 0 where id = 'ord_broken'`);
  expect(await audit()).toMatchObject({ violations: [] });
  await eventually('people are told that it is over', () => Promise.resolve(messages('recovered').length > 0));
  expect(messages('raised')).toHaveLength(1);
  const [raised] = messages('raised');
  expect(raised?.lines.join('\n')).toContain('invariant order_amount_refunded, violations 1');
  expect(raised?.lines.at(-1)).toBe('See: npx paidonce audit');
});

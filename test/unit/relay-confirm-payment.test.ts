import type { WorkflowClient } from '@temporalio/client';
import { expect, it } from 'vitest';
import { confirmPayment } from '../../src/relay/confirm-payment.ts';

const CALL = { source: 'sim', paymentId: 'pay_1', orderId: null, caller: 'caller_1' };

/** Answers the calls in this order: a number is a gRPC status. */
function clientThat(...answers: (number | 'marked_paid')[]): { client: WorkflowClient; asked: string[] } {
  const asked: string[] = [];
  const client = {
    executeUpdateWithStart(_update: unknown, options: { updateId: string }) {
      asked.push(options.updateId);
      const answer = answers.shift() ?? 13;
      if (typeof answer === 'string') return Promise.resolve({ outcome: answer });
      return Promise.reject(Object.assign(new Error('refused'), { code: answer, details: '', metadata: {} }));
    },
  };
  return { client: client as unknown as WorkflowClient, asked };
}

it.each([9, 10])(
  'a question that met a run on its way out (gRPC %i) is asked once more, and counts once',
  async (code) => {
    const { client, asked } = clientThat(code, 'marked_paid');
    expect(await confirmPayment(client, CALL)).toBe('marked_paid');
    expect(asked).toEqual(['caller_1', 'caller_1']);
  },
);

it('a question is not repeated a second time, and not at all for any other reason', async () => {
  const twice = clientThat(10, 10, 'marked_paid');
  await expect(confirmPayment(twice.client, CALL)).rejects.toMatchObject({ code: 10 });
  expect(twice.asked).toHaveLength(2);
  const away = clientThat(14, 'marked_paid');
  await expect(confirmPayment(away.client, CALL)).rejects.toMatchObject({ code: 14 });
  expect(away.asked).toHaveLength(1);
});

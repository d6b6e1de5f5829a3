import { ServiceError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { confirmPayment } from '../../src/api/confirm-payment.ts';
import type { ApiDeps } from '../../src/api/deps.ts';
import { createLogger } from '../../src/telemetry/log.ts';

/** A Temporal that answers every update like this. */
function temporalThat(answer: () => Promise<{ outcome: string }>): ApiDeps['temporal'] {
  return {
    withDeadline: (_deadline: number, work: () => Promise<unknown>) => work(),
    workflow: { executeUpdateWithStart: answer },
  } as unknown as ApiDeps['temporal'];
}

const ask = (temporal: ApiDeps['temporal']) =>
  confirmPayment({ temporal, log: createLogger('silent', 'test') }, 'sim', 'pay_1');

describe('a browser that asks what became of its payment', () => {
  it('hears "pending" where Temporal has no room for the question', async () => {
    const exhausted = Object.assign(new Error('8 RESOURCE_EXHAUSTED: namespace rate limit exceeded'), {
      code: 8,
      details: '',
      metadata: {},
    });
    expect(await ask(temporalThat(() => Promise.reject(new ServiceError('busy', { cause: exhausted }))))).toBe(
      'pending',
    );
    expect(await ask(temporalThat(() => Promise.reject(exhausted)))).toBe('pending');
  });

  it('hears the outcome where there is one', async () => {
    expect(await ask(temporalThat(() => Promise.resolve({ outcome: 'marked_paid' })))).toBe('marked_paid');
  });
});

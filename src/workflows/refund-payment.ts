import { proxyActivities } from '@temporalio/workflow';
import type { MoneyActivities } from '../activities/index.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { refundMessages } from './messages.ts';
import { moveMoney } from './move-money.ts';
import { quickly } from './quickly.ts';
import { MONEY } from './retry.ts';

const money = proxyActivities<MoneyActivities>(MONEY);

/** Gives money of one payment back, once. */
export async function refundPayment(): Promise<RefundStatus> {
  return moveMoney({
    kind: 'refund',
    messages: refundMessages,
    execute: (id) => money.executeRefund(id),
    look: (id) => quickly((activities) => activities.lookAtRefund(id)),
  });
}

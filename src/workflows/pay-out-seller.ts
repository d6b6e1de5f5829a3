import { proxyActivities } from '@temporalio/workflow';
import type { MoneyActivities } from '../activities/index.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { payoutMessages } from './messages.ts';
import { moveMoney } from './move-money.ts';
import { quickly } from './quickly.ts';
import { MONEY } from './retry.ts';

const money = proxyActivities<MoneyActivities>(MONEY);

/** Pays a seller out for one day, once. */
export async function payOutSeller(): Promise<RefundStatus> {
  return moveMoney({
    kind: 'payout',
    messages: payoutMessages,
    execute: (id) => money.executePayout(id),
    look: (id) => quickly((activities) => activities.lookAtPayout(id)),
  });
}

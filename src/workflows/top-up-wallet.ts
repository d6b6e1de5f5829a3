import { proxyActivities } from '@temporalio/workflow';
import type { Activities, MoneyActivities } from '../activities/index.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { topUpMessages } from './messages.ts';
import { moveMoney } from './move-money.ts';
import { MONEY, PATIENT } from './retry.ts';

const money = proxyActivities<MoneyActivities>(MONEY);
// Not a quick step: it waits for another workflow.
const patient = proxyActivities<Activities>(PATIENT);

/** Charges a saved card for a wallet, once; the wallet is credited by the payment's own workflow. */
export async function topUpWallet(): Promise<RefundStatus> {
  return moveMoney({
    kind: 'top_up',
    messages: topUpMessages,
    execute: (id) => money.executeCardPayment('top_up', id),
    look: (id) => patient.lookAtCardPayment('top_up', id),
  });
}

import { proxyActivities } from '@temporalio/workflow';
import type { Activities, MoneyActivities } from '../activities/index.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { chargeMessages } from './messages.ts';
import { moveMoney } from './move-money.ts';
import { MONEY, PATIENT } from './retry.ts';

const money = proxyActivities<MoneyActivities>(MONEY);
// Not a quick step: it waits for another workflow.
const patient = proxyActivities<Activities>(PATIENT);

/** Charges a saved card for an order, once; what the payment came to is applied by the payment's own workflow. */
export async function chargeSavedCard(): Promise<RefundStatus> {
  return moveMoney({
    kind: 'charge',
    messages: chargeMessages,
    execute: (id) => money.executeCardPayment('charge', id),
    look: (id) => patient.lookAtCardPayment('charge', id),
  });
}

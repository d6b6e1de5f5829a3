import { proxyActivities } from '@temporalio/workflow';
import type { Activities, MoneyActivities } from '../activities/index.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { captureMessages } from './messages.ts';
import { moveMoney } from './move-money.ts';
import { MONEY, PATIENT } from './retry.ts';

const money = proxyActivities<MoneyActivities>(MONEY);
// Not a quick step: it waits for another workflow.
const patient = proxyActivities<Activities>(PATIENT);

/** Takes the money of an authorised payment, once; what the payment came to is applied by its own workflow. */
export async function capturePayment(): Promise<RefundStatus> {
  return moveMoney({
    kind: 'capture',
    messages: captureMessages,
    execute: (id) => money.executeAuthorizationMove('capture', id),
    look: (id) => patient.lookAtAuthorizationMove('capture', id),
  });
}

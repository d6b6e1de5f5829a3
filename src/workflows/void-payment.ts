import { proxyActivities } from '@temporalio/workflow';
import type { Activities, MoneyActivities } from '../activities/index.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import { voidMessages } from './messages.ts';
import { moveMoney } from './move-money.ts';
import { MONEY, PATIENT } from './retry.ts';

const money = proxyActivities<MoneyActivities>(MONEY);
// Not a quick step: it waits for another workflow.
const patient = proxyActivities<Activities>(PATIENT);

/** Lets an authorised payment go, once; what the payment came to is applied by its own workflow. */
export async function voidPayment(): Promise<RefundStatus> {
  return moveMoney({
    kind: 'void',
    messages: voidMessages,
    execute: (id) => money.executeAuthorizationMove('void', id),
    look: (id) => patient.lookAtAuthorizationMove('void', id),
  });
}

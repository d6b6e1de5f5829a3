import {
  readCheckout,
  recordCheckoutTrouble,
  recordPreparedPayment,
  type CheckoutStatus,
} from '../database/checkout.ts';
import { noteSending } from '../database/gateway-call.ts';
import type { PreparedPayment } from '../domain/gateway-facts.ts';
import { checkoutWorkflowId } from '../domain/keys.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { sourceOf } from './source-of.ts';

export interface CheckoutProgress {
  readonly status: CheckoutStatus;
  readonly paymentId: string | null;
  readonly lastError: string | null;
}

/** One attempt to have the gateway prepare a payment: looks first, and creates only what is surely absent (F2). */
export function createPrepareCheckout(deps: Dependencies) {
  return async function prepareCheckout(orderId: string, n: number): Promise<CheckoutProgress> {
    const checkout = await readCheckout(deps.pool, orderId, n);
    if (checkout === null) throw new Error(`There is no checkout ${n} of order ${orderId}.`);
    const { status, paymentId, lastError, source } = checkout;
    if (status !== 'pending' && status !== 'unknown') return { status, paymentId, lastError };
    const { gateway } = sourceOf(deps, source);
    const reference = checkoutWorkflowId(orderId, n);
    const sent = await lookThenCreate<PreparedPayment>(deps, gateway, {
      reference,
      find: async () => (await gateway.findPayments(reference, orderId))[0] ?? null,
      create: async (idempotencyKey, at) => {
        await noteSending(deps.pool, { source, reference, at });
        return gateway.preparePayment({ ...checkout, reference, idempotencyKey });
      },
    });
    if (sent.result === 'done') await recordPreparedPayment(deps.pool, checkout, sent.found);
    if (sent.result === 'rejected') {
      const { code, message } = sent.error;
      await recordCheckoutTrouble(deps.pool, checkout, { status: 'failed', code, message });
    }
    deps.wakeRelay();
    const now = (await readCheckout(deps.pool, orderId, n)) ?? checkout;
    return { status: now.status, paymentId: now.paymentId, lastError: now.lastError };
  };
}

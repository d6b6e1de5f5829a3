import { ApplicationFailure } from '@temporalio/common';
import { claimRefundSend } from '../database/claim-refund-send.ts';
import { noteAnswered } from '../database/gateway-call.ts';
import { giveUpRefund } from '../database/give-up-refund.ts';
import { readRefund, type Refund } from '../database/read-refund.ts';
import { recordRefunds } from '../database/record-refunds.ts';
import type { RefundFacts } from '../domain/gateway-facts.ts';
import type { GatewayError } from '../domain/gateway-error.ts';
import { gatewayCallKey, refundWorkflowId } from '../domain/keys.ts';
import type { Gateway } from '../gateways/gateway.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { refundProgress, type RefundProgress } from './refund-progress.ts';
import { settleTime } from './settle-time.ts';
import { sourceOf } from './source-of.ts';

/** The gateway says that there is nothing left to give back: true in the end, whoever did it (D2, E6). */
const NOTHING_LEFT: ReadonlySet<string> = new Set(['already_refunded', 'refund_exceeds_captured']);

/**
 * One attempt to carry out a reserved refund: looks first, sends only what is surely absent, records the answer. Safe to
 * run at any time and any number of times; a refund that is placed, over, or before a human is left alone.
 */
export function createExecuteRefund(deps: Dependencies) {
  return async function executeRefund(refundId: string): Promise<RefundProgress> {
    const refund = await readRefund(deps.pool, refundId);
    if (refund === null) throw new Error(`There is no refund ${refundId}.`);
    const { reference } = refund;
    const open = refund.status === 'pending' || refund.status === 'unknown';
    if (reference === null || !open || refund.gatewayRefundId !== null) return refundProgress(refund);
    const { gateway } = sourceOf(deps, refund.source);
    const sent = await lookThenCreate<RefundFacts>(deps, settleTime(gateway, deps.policies), {
      source: refund.source,
      reference,
      find: async (attempt) => pickRefund(await gateway.findRefunds(refund.paymentId, reference), attempt),
      create: async (attempt, at) => {
        const amount = await claimRefundSend(deps.pool, { ...refund, reference }, at);
        if (amount === null) return null;
        const idempotencyKey = gatewayCallKey(reference, attempt);
        return gateway.createRefund({ ...refund, amount, reference, idempotencyKey });
      },
    });
    if (sent.result === 'done') await record(deps, refund, [sent.found], reference);
    if (sent.result === 'rejected') await handleRejection(deps, gateway, { ...refund, reference }, sent.error);
    deps.wakeRelay();
    const now = await readRefund(deps.pool, refundId);
    return refundProgress(now ?? refund);
  };
}

/**
 * Of our refunds under one reference the one that counts. After a person ordered a new attempt, those that the gateway calls failed
 * are outcomes of earlier ones (F3).
 */
function pickRefund(found: readonly RefundFacts[], attempt: number): RefundFacts | null {
  const alive = found.find((refund) => refund.status !== 'failed');
  return alive ?? (attempt === 1 ? (found[0] ?? null) : null);
}

async function record(
  deps: Dependencies,
  refund: Refund,
  facts: readonly RefundFacts[],
  answered: string | null,
): Promise<void> {
  const { source, paymentId, orderId } = refund;
  const cause = refundWorkflowId(refund.id);
  await recordRefunds(deps.pool, { source, paymentId, orderId, facts, cause, policies: deps.policies, answered });
}

async function handleRejection(
  deps: Dependencies,
  gateway: Gateway,
  refund: Refund & { readonly reference: string },
  error: GatewayError,
): Promise<void> {
  const { code, message } = error;
  if (!NOTHING_LEFT.has(code)) return giveUpRefund(deps.pool, refund, 'rejected', { code, message });
  // Read back before believing it: the first answer may have been lost, or somebody else may have refunded.
  const facts = await gateway.listRefunds(refund.paymentId);
  await record(deps, refund, facts, null);
  const now = await readRefund(deps.pool, refund.id);
  if (now === null || now.status !== refund.status || now.gatewayRefundId !== null) return;
  if (refund.kind === 'requested') return giveUpRefund(deps.pool, refund, 'rejected', { code, message });
  const standing = facts.filter((fact) => fact.status !== 'failed').reduce((sum, fact) => sum + fact.amount, 0n);
  const shrunk = now.amount < refund.amount;
  if (standing === 0n && !shrunk) return giveUpRefund(deps.pool, refund, 'rejected', { code, message });
  if (!shrunk) return giveUpRefund(deps.pool, refund, 'already_refunded', { code, message });
  // The rest is another request: a gateway refuses a used key with a new amount.
  await noteAnswered(deps.pool, refund.reference, { repaired: true });
  throw ApplicationFailure.create({
    type: 'RefundShrunk',
    message: `Others refunded part of payment ${refund.paymentId} meanwhile; the rest is refunded next.`,
    nextRetryDelay: 1,
  });
}

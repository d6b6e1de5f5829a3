import { ApplicationFailure } from '@temporalio/common';
import { claimRefundSend } from '../database/claim-refund-send.ts';
import { noteAnswered } from '../database/gateway-call.ts';
import { giveUpMove, type MoveEnd } from '../database/give-up-move.ts';
import { readRefund, type Refund } from '../database/read-refund.ts';
import { recordRefunds } from '../database/record-refunds.ts';
import type { RefundFacts } from '../domain/gateway-facts.ts';
import type { GatewayError } from '../domain/gateway-error.ts';
import { refundWorkflowId } from '../domain/keys.ts';
import type { Gateway } from '../gateways/gateway.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { mayBeSent, readProgress, type MoneyProgress } from './money-progress.ts';
import { pickCounting } from './pick-counting.ts';
import { sourceOf } from './source-of.ts';

/** The gateway says that there is nothing left to give back: true in the end, whoever did it (D2, E6). */
const NOTHING_LEFT: ReadonlySet<string> = new Set(['already_refunded', 'refund_exceeds_captured']);

/**
 * One attempt to carry out a reserved refund: looks first, sends only what is surely absent, records the answer. Safe to
 * run at any time and any number of times; a refund that is placed, over, or before a human is left alone.
 */
export function createExecuteRefund(deps: Dependencies) {
  return async function executeRefund(refundId: string): Promise<MoneyProgress> {
    const refund = await readRefund(deps.pool, refundId);
    if (refund === null) throw new Error(`There is no refund ${refundId}.`);
    const before = await readProgress(deps.pool, 'refund', refundId);
    const { reference } = refund;
    if (reference === null || !mayBeSent(before)) return before;
    const { gateway } = sourceOf(deps, refund.source);
    const sent = await lookThenCreate<RefundFacts>(deps, gateway, {
      reference,
      find: async () => {
        const found = await gateway.findRefunds(refund.paymentId, reference);
        return pickCounting(found, (fact) => refund.supersededGatewayIds.includes(fact.refundId));
      },
      create: async (idempotencyKey, at) => {
        const amount = await claimRefundSend(deps.pool, { ...refund, reference }, at);
        return amount === null ? null : gateway.createRefund({ ...refund, amount, reference, idempotencyKey });
      },
    });
    if (sent.result === 'done') await record(deps, refund, [sent.found], reference);
    if (sent.result === 'rejected') await handleRejection(deps, gateway, { ...refund, reference }, sent.error);
    deps.wakeRelay();
    return readProgress(deps.pool, 'refund', refundId);
  };
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
  const giveUp = (end: MoveEnd) => giveUpMove(deps.pool, { kind: 'refund', id: refund.id }, end, error);
  if (!NOTHING_LEFT.has(error.code)) return giveUp('rejected');
  // Read back before believing it: the first answer may have been lost, or somebody else may have refunded.
  const facts = await gateway.listRefunds(refund.paymentId);
  await record(deps, refund, facts, null);
  const now = await readRefund(deps.pool, refund.id);
  if (now === null || now.status !== refund.status || now.gatewayRefundId !== null) return;
  if (refund.kind === 'requested') return giveUp('rejected');
  const standing = facts.filter((fact) => fact.status !== 'failed').reduce((sum, fact) => sum + fact.amount, 0n);
  const shrunk = now.amount < refund.amount;
  if (!shrunk) return giveUp(standing < (now.captured ?? 0n) || standing === 0n ? 'rejected' : 'already_refunded');
  // The rest is another request: a gateway refuses a used key with a new amount.
  await noteAnswered(deps.pool, refund.reference, { repaired: true });
  throw ApplicationFailure.create({
    type: 'RefundShrunk',
    message: `Others refunded part of payment ${refund.paymentId} meanwhile; the rest is refunded next.`,
    nextRetryDelay: 1,
  });
}

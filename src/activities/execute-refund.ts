import { ApplicationFailure } from '@temporalio/common';
import { claimRefundSend } from '../database/claim-refund-send.ts';
import { noteAnswered } from '../database/gateway-call.ts';
import { giveUpMove } from '../database/give-up-move.ts';
import { readMoneyMove } from '../database/money-move.ts';
import { readRefund, type Refund } from '../database/read-refund.ts';
import { recordRefunds } from '../database/record-refunds.ts';
import type { RefundFacts } from '../domain/gateway-facts.ts';
import type { GatewayError } from '../domain/gateway-error.ts';
import { gatewayCallKey, refundWorkflowId } from '../domain/keys.ts';
import type { Gateway } from '../gateways/gateway.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { readProgress, type MoneyProgress } from './money-progress.ts';
import { settleTime } from './settle-time.ts';
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
    // A person has told the machine to stop: nothing is sent any more.
    if (before.givenUp) return before;
    const { reference } = refund;
    const open = refund.status === 'pending' || refund.status === 'unknown';
    if (reference === null || !open || refund.gatewayRefundId !== null) return before;
    const { gateway } = sourceOf(deps, refund.source);
    const sent = await lookThenCreate<RefundFacts>(deps, settleTime(gateway, deps.policies), {
      source: refund.source,
      reference,
      find: async () => pickRefund(refund, await gateway.findRefunds(refund.paymentId, reference)),
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
    return readProgress(deps.pool, 'refund', refundId);
  };
}

/** Of our refunds under one reference the one that counts: not those of attempts before the one that a person ordered (F3). */
function pickRefund(refund: Refund, found: readonly RefundFacts[]): RefundFacts | null {
  const ours = found.filter((fact) => !refund.supersededGatewayIds.includes(fact.refundId));
  return ours.find((fact) => fact.status !== 'failed') ?? ours[0] ?? null;
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
  if (!NOTHING_LEFT.has(code)) return giveUp(deps, refund, 'rejected', { code, message });
  // Read back before believing it: the first answer may have been lost, or somebody else may have refunded.
  const facts = await gateway.listRefunds(refund.paymentId);
  await record(deps, refund, facts, null);
  const now = await readRefund(deps.pool, refund.id);
  if (now === null || now.status !== refund.status || now.gatewayRefundId !== null) return;
  if (refund.kind === 'requested') return giveUp(deps, refund, 'rejected', { code, message });
  const standing = facts.filter((fact) => fact.status !== 'failed').reduce((sum, fact) => sum + fact.amount, 0n);
  const shrunk = now.amount < refund.amount;
  if (standing === 0n && !shrunk) return giveUp(deps, refund, 'rejected', { code, message });
  if (!shrunk) return giveUp(deps, refund, 'already_refunded', { code, message });
  // The rest is another request: a gateway refuses a used key with a new amount.
  await noteAnswered(deps.pool, refund.reference, { repaired: true });
  throw ApplicationFailure.create({
    type: 'RefundShrunk',
    message: `Others refunded part of payment ${refund.paymentId} meanwhile; the rest is refunded next.`,
    nextRetryDelay: 1,
  });
}

async function giveUp(
  deps: Dependencies,
  refund: Refund,
  end: 'rejected' | 'already_refunded',
  details: { readonly code: string; readonly message: string },
): Promise<void> {
  const move = await readMoneyMove(deps.pool, 'refund', refund.id);
  if (move !== null) await giveUpMove(deps.pool, move, end, details);
}

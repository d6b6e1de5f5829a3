import type { PayoutFacts } from '../domain/gateway-facts.ts';
import { paidOutPostingKey, payoutReturnedPostingKey, payoutWorkflowId } from '../domain/keys.ts';
import { gatewayAccount, SELLER_PAYOUTS } from '../domain/ledger.ts';
import { refundMayBecome } from '../domain/refund-states.ts';
import { announce } from './announce.ts';
import { noteAnswered } from './gateway-call.ts';
import { moveDeadLetterId } from './give-up-move.ts';
import type { MoneyStatus } from './money-move.ts';
import { openDeadLetter, recoverDeadLetters } from './open-dead-letter.ts';
import { inTransaction, type Pool, type Tx } from './pool.ts';
import { postToLedger } from './post-to-ledger.ts';
import { readPayout, type Payout } from './read-payout.ts';
import { recordTransition } from './record-transition.ts';

const STATUS = { pending: 'pending', paid: 'succeeded', failed: 'failed' } as const satisfies Record<
  string,
  MoneyStatus
>;

/** Records what a gateway says about one of our payouts: its state by a named transition, the books, the announcement. */
export async function recordPayout(
  pool: Pool,
  payoutId: string,
  facts: PayoutFacts,
  options: { readonly cause: string; readonly answered: boolean },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query('select from payouts where id = $1 for update', [payoutId]);
    const payout = await readPayout(tx, payoutId);
    if (payout === null) throw new Error(`There is no payout ${payoutId}.`);
    if (options.answered) await noteAnswered(tx, payout.reference);
    // The outcome of an attempt before the one that a person ordered.
    if (payout.supersededGatewayIds.includes(facts.payoutId)) return;
    const to = STATUS[facts.status];
    const moves = refundMayBecome(payout.status, to);
    if (!moves && payout.gatewayPayoutId !== null) return;
    await tx.query(
      `update payouts set status = $2, gateway_payout_id = $3, failure_code = coalesce($4, failure_code), last_error = null,
              updated_at = now()
       where id = $1`,
      [payoutId, moves ? to : payout.status, facts.payoutId, facts.failureCode],
    );
    if (!moves) return;
    await recordTransition(tx, {
      ...{ machine: 'payout', objectId: payoutId, from: payout.status, to, cause: options.cause },
      source: payout.source,
    });
    await settle(tx, payout, to, facts.failureCode);
  });
}

async function settle(tx: Tx, payout: Payout, to: MoneyStatus, failureCode: string | null): Promise<void> {
  const { id, source, amount, currency } = payout;
  const gateway = gatewayAccount(source);
  const returned = payout.status === 'succeeded' && to === 'failed';
  const repeat = payout.supersededGatewayIds.length;
  const about = { kind: 'payout', id } as const;
  if (to === 'succeeded') {
    await recoverDeadLetters(tx, [
      moveDeadLetterId('outcome_unknown', about),
      moveDeadLetterId('payout_failed', about),
    ]);
    const transfers = [{ debit: SELLER_PAYOUTS, credit: gateway, amount }];
    await postToLedger(
      tx,
      { key: paidOutPostingKey(id, repeat), currency, transfers },
      { orderId: null, source, paymentId: null },
    );
  }
  if (returned) {
    const transfers = [{ debit: gateway, credit: SELLER_PAYOUTS, amount }];
    await postToLedger(
      tx,
      { key: payoutReturnedPostingKey(id, repeat), currency, transfers },
      { orderId: null, source, paymentId: null },
    );
  }
  if (to === 'failed') {
    await openDeadLetter(tx, {
      ...{
        id: moveDeadLetterId('payout_failed', about),
        kind: 'payout_failed',
        source,
        payoutId: id,
        amount,
        currency,
      },
      workflowId: payoutWorkflowId(id),
      lastError: returned
        ? 'The payout had arrived, and then the bank sent the money back.'
        : `The gateway could not carry out the payout${failureCode === null ? '' : `: ${failureCode}`}.`,
    });
  }
  if (to !== 'succeeded' && to !== 'failed') return;
  await announce(tx, null, [
    {
      eventType: to === 'succeeded' ? 'payout.paid' : 'payout.failed',
      aggregateId: payoutWorkflowId(id),
      payload: { payout_id: id, source, seller_id: payout.sellerId, amount: amount.toString(), currency },
    },
  ]);
}

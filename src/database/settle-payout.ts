import { paidOutPostingKey, payoutReturnedPostingKey, payoutWorkflowId } from '../domain/keys.ts';
import { gatewayAccount, SELLER_PAYOUTS } from '../domain/ledger.ts';
import { announce } from './announce.ts';
import { moveDeadLetterId } from './give-up-move.ts';
import type { MoneyStatus } from './money-move.ts';
import { openDeadLetter, recoverDeadLetters } from './open-dead-letter.ts';
import type { Tx } from './pool.ts';
import { postToLedger } from './post-to-ledger.ts';
import type { Payout } from './read-payout.ts';

/**
 * What follows from a payout's new status: the books, the announcement, and a human where it failed.
 *
 * @param payout as it was before
 * @param options.quiet a person has just said so: nobody needs to be asked again
 * @param options.failureAnnounced it was announced when the gateway refused it: it is told once
 */
export async function settlePayout(
  tx: Tx,
  payout: Payout,
  to: MoneyStatus,
  failureCode: string | null,
  options: { readonly quiet?: boolean; readonly failureAnnounced?: boolean } = {},
): Promise<void> {
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
  if (to === 'failed' && options.quiet !== true) {
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
  if (to !== 'succeeded' && (to !== 'failed' || options.failureAnnounced === true)) return;
  await announce(tx, null, [
    {
      eventType: to === 'succeeded' ? 'payout.paid' : 'payout.failed',
      aggregateId: payoutWorkflowId(id),
      payload: { payout_id: id, source, seller_id: payout.sellerId, amount: amount.toString(), currency },
    },
  ]);
}

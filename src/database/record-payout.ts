import type { PayoutFacts } from '../domain/gateway-facts.ts';
import { formatMoney } from '../domain/money.ts';
import { paidOutPostingKey, payoutWorkflowId } from '../domain/keys.ts';
import { refundMayBecome } from '../domain/refund-states.ts';
import { finishPayoutEvents } from './finish-payout-events.ts';
import { noteAnswered } from './gateway-call.ts';
import { moveDeadLetterId } from './give-up-move.ts';
import type { MoneyStatus } from './money-move.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import { inTransaction, type Pool, type Tx } from './pool.ts';
import type { WaitingEvent } from './read-payment-work.ts';
import { type Payout, readPayout } from './read-payout.ts';
import { recordTransition } from './record-transition.ts';
import { settlePayout } from './settle-payout.ts';

const STATUS = { pending: 'pending', paid: 'succeeded', failed: 'failed' } as const satisfies Record<
  string,
  MoneyStatus
>;

/** Records what a gateway says about one of our payouts: its state by a named transition, the books, the announcement. */
export async function recordPayout(
  pool: Pool,
  payoutId: string,
  facts: PayoutFacts,
  options: {
    readonly cause: string;
    /** It answers our own call. */
    readonly answered: boolean;
    /** Events that were received before the look began. */
    readonly events?: readonly WaitingEvent[];
  },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query('select from payouts where id = $1 for update', [payoutId]);
    const payout = await readPayout(tx, payoutId);
    if (payout === null) throw new Error(`There is no payout ${payoutId}.`);
    if (options.answered) await noteAnswered(tx, payout.reference);
    await finishPayoutEvents(tx, payout, facts, options.events ?? [], new Date());
    // The outcome of an attempt before the one that a person ordered.
    if (payout.supersededGatewayIds.includes(facts.payoutId)) return;
    if (facts.amount !== payout.amount || facts.currency !== payout.currency) {
      await askAboutOtherMoney(tx, payout, facts);
      return;
    }
    const to = STATUS[facts.status];
    // Sent back by the bank: whoever shows it as paid is behind.
    const behind = payout.status === 'failed' && to === 'succeeded' && (await wasPaid(tx, payout));
    const moves = !behind && refundMayBecome(payout.status, to);
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
    await settlePayout(tx, payout, to, facts.failureCode);
  });
}

/** Whether the present attempt was booked as paid already. */
async function wasPaid(tx: Tx, payout: Payout): Promise<boolean> {
  const { rowCount } = await tx.query('select 1 from ledger_entries where source_event_id = $1 limit 1', [
    paidOutPostingKey(payout.id, payout.supersededGatewayIds.length),
  ]);
  return rowCount === 1;
}

/** What the gateway has under our reference is not what was ordered: whether it is right, only a person can see. */
async function askAboutOtherMoney(tx: Tx, payout: Payout, facts: PayoutFacts): Promise<void> {
  const { id, source, amount, currency } = payout;
  await openDeadLetter(tx, {
    ...{
      id: moveDeadLetterId('outcome_unknown', { kind: 'payout', id }),
      kind: 'outcome_unknown',
      source,
      payoutId: id,
    },
    ...{ amount, currency, workflowId: payoutWorkflowId(id) },
    lastError: `${formatMoney({ amount, currency })} were ordered, and the gateway shows ${formatMoney(facts)} as ${facts.payoutId}: look there, and resolve it by what you see.`,
  });
}

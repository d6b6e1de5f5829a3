import { outcomeForOthers } from '../domain/decide-capture.ts';
import { capturedPostingKey, deadLetterId } from '../domain/keys.ts';
import { gatewayAccount, UNALLOCATED, WALLETS } from '../domain/ledger.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { paymentStatusAfter, type PaymentStatus } from '../domain/payment-states.ts';
import type { PaymentStep } from './apply-facts.ts';
import type { AppliedPayment } from './apply-payment.ts';
import { applyShownRefunds } from './apply-shown-refunds.ts';
import { followCardPayment } from './follow-card-payment.ts';
import { holdChangedAmount } from './hold-changed-amount.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import type { Tx } from './pool.ts';
import { postToLedger } from './post-to-ledger.ts';
import { savePayment } from './save-payment.ts';
import { settleEvents } from './settle-events.ts';

/** Applies what a gateway shows of a payment that tops up a wallet: credited once, whichever event or answer is first. */
export async function applyTopUpFacts(tx: Tx, step: PaymentStep, topUpId: string): Promise<AppliedPayment> {
  const { input, facts, sorted, known } = step;
  const { source, paymentId } = input;
  const status = paymentStatusAfter(known?.status ?? null, facts.status);
  const winner = sorted.claimants[0] ?? null;
  const cause = winner?.cause ?? 'look';
  const amount = known?.status === 'captured' ? known.amount : facts.amount;
  const currency = known?.status === 'captured' ? known.currency : facts.currency;
  const money = amount === null || amount <= 0n || currency === null ? null : { amount, currency };
  // A person has given it back: no wallet gets it any more.
  const givenBack = known?.automaticRefund != null;
  const credit = status === 'captured' && !givenBack ? await creditWallet(tx, step, topUpId, money) : 'nothing';
  const outcome = givenBack ? 'not_payable' : outcomeOf(status, credit);
  await savePayment(tx, {
    ...{ source, paymentId, orderId: null, status, cause, known, amount, currency, purpose: 'top_up' },
    ...{ reference: facts.reference, outcome, waitingFor: null },
    keepOutcome: givenBack || outcome === 'already_paid_same_payment',
  });
  const move = await followCardPayment(tx, {
    ...{ source, paymentId, orderId: null, status, cause, reference: facts.reference ?? known?.reference ?? null },
  });
  const events = sorted.settled.filter((event) => event.subject !== 'dispute');
  const refunds =
    status === 'captured' && credit !== 'held' && money !== null
      ? await applyShownRefunds(
          tx,
          input,
          { ...money, cause, allocation: givenBack ? 'owed_back' : 'wallet', order: null },
          events,
        )
      : { changed: [] };
  const settled = await settleEvents(tx, step, {
    ...{ order: null, outcome, winner: winner?.event ?? null, events, reason: null },
    changed: await holdChangedAmount(tx, step),
  });
  return {
    ...{ status, outcome, orderId: null },
    callerOutcomes: Object.fromEntries(
      input.callers.map((caller) => [caller, caller === winner?.cause ? outcome : outcomeForOthers(outcome)]),
    ),
    pendingEvents: settled.pending,
    heldEvents: settled.heldEvents,
    waitingFor: settled.pending > 0 ? 'gateway' : null,
    nextLookMs: settled.nextLookMs,
    needsHuman: outcome === 'held_for_review' || settled.held,
    changedRefunds: refunds.changed,
    changedMoves: move === null ? [] : [move],
  };
}

function outcomeOf(status: PaymentStatus, credit: 'credited' | 'nothing' | 'held'): PaymentOutcome {
  if (credit === 'held') return 'held_for_review';
  if (credit === 'credited') return 'marked_paid';
  if (status === 'captured') return 'already_paid_same_payment';
  return status === 'failed' || status === 'expired' ? 'failed' : 'pending';
}

/** One entry per captured payment, unique by its business key; the balance moves with it or not at all. */
async function creditWallet(
  tx: Tx,
  { input, known, sorted }: PaymentStep,
  topUpId: string,
  money: { readonly amount: bigint; readonly currency: string } | null,
): Promise<'credited' | 'nothing' | 'held'> {
  const { source, paymentId } = input;
  const key = capturedPostingKey(source, paymentId);
  // Put before a human once: the wallet's currency does not change, and a decision is not asked for twice.
  if (known?.outcome === 'held_for_review' && known.amount !== null) return 'held';
  const { rows } = await tx.query<{ wallet_id: string; currency: string; credited: boolean }>(
    `select t.wallet_id, w.currency, exists (select from wallet_entries e where e.source_event_id = $3) as credited
     from top_ups t join wallets w on w.id = t.wallet_id where t.id = $1 and t.source = $2 for update of w`,
    [topUpId, source, key],
  );
  const wallet = rows[0];
  if (wallet?.credited === true) return 'nothing';
  if (wallet === undefined || money === null || wallet.currency !== money.currency) {
    await openDeadLetter(tx, {
      id: deadLetterId(wallet === undefined ? 'unmatched_payment' : 'wrong_currency', source, paymentId),
      kind: wallet === undefined ? 'unmatched_payment' : 'wrong_currency',
      ...{ source, paymentId, eventId: sorted.settled[0]?.eventId ?? null },
      ...{ amount: money?.amount ?? null, currency: money?.currency ?? null },
      lastError:
        wallet === undefined
          ? `The payment was captured for top-up ${topUpId}, which we do not know.`
          : `The payment was captured in ${money?.currency ?? 'an unknown currency'}, but the wallet holds ${wallet.currency}.`,
    });
    if (money !== null) await post(tx, input, key, money, UNALLOCATED);
    return 'held';
  }
  await tx.query(
    `with entry as (
       insert into wallet_entries (wallet_id, source_event_id, amount, currency, source, payment_id)
       values ($1, $2, $3, $4, $5, $6))
     update wallets set balance = balance + $3::bigint, updated_at = now() where id = $1`,
    [wallet.wallet_id, key, money.amount, money.currency, source, paymentId],
  );
  await post(tx, input, key, money, WALLETS);
  return 'credited';
}

async function post(
  tx: Tx,
  { source, paymentId }: { readonly source: string; readonly paymentId: string },
  key: string,
  money: { readonly amount: bigint; readonly currency: string },
  account: string,
): Promise<void> {
  const transfers = [{ debit: gatewayAccount(source), credit: account, amount: money.amount }];
  await postToLedger(tx, { key, currency: money.currency, transfers }, { orderId: null, source, paymentId });
}

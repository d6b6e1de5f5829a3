import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { outcomeForOthers } from '../domain/decide-capture.ts';
import { capturedPostingKey, deadLetterId } from '../domain/keys.ts';
import { gatewayAccount, UNALLOCATED, WALLETS } from '../domain/ledger.ts';
import { paymentReaches } from '../domain/payment-states.ts';
import { applyDisputes } from './apply-disputes.ts';
import { applyRefunds } from './apply-refunds.ts';
import { askAboutReturnedRefunds } from './ask-about-returned-refunds.ts';
import type { PaymentStep } from './apply-facts.ts';
import type { AppliedPayment } from './apply-payment.ts';
import { finishEvents } from './finish-events.ts';
import { followCardPayment } from './follow-card-payment.ts';
import { holdEvents } from './hold-events.ts';
import { openDeadLetter } from './open-dead-letter.ts';
import type { Tx } from './pool.ts';
import { postToLedger } from './post-to-ledger.ts';
import { postponeEvents } from './postpone-events.ts';
import { savePayment } from './save-payment.ts';

/** Applies what a gateway shows of a payment that tops up a wallet: credited once, whichever event or answer is first. */
export async function applyTopUpFacts(tx: Tx, step: PaymentStep, topUpId: string): Promise<AppliedPayment> {
  const { input, facts, sorted, known } = step;
  const { source, paymentId } = input;
  const status = known === null || paymentReaches(known.status, facts.status) ? facts.status : known.status;
  const winner = sorted.claimants[0] ?? null;
  const cause = winner?.cause ?? 'look';
  const amount = known?.status === 'captured' ? known.amount : facts.amount;
  const currency = known?.status === 'captured' ? known.currency : facts.currency;
  const money = amount === null || amount <= 0n || currency === null ? null : { amount, currency };
  // A person has given it back: no wallet gets it any more.
  const givenBack = known?.automaticRefund != null;
  const credit = status === 'captured' && !givenBack ? await creditWallet(tx, step, topUpId, money) : 'nothing';
  const outcome: PaymentOutcome = givenBack
    ? 'not_payable'
    : credit === 'held'
      ? 'held_for_review'
      : credit === 'credited'
        ? 'marked_paid'
        : status === 'captured'
          ? 'already_paid_same_payment'
          : status === 'failed' || status === 'expired'
            ? 'failed'
            : 'pending';
  await savePayment(tx, {
    ...{ source, paymentId, orderId: null, status, cause, known, amount, currency, purpose: 'top_up' },
    ...{
      reference: facts.reference,
      outcome,
      keepOutcome: givenBack || outcome === 'already_paid_same_payment',
      waitingFor: null,
    },
  });
  const changed: string[] = [];
  const move = await followCardPayment(tx, {
    ...{ source, paymentId, orderId: null, status, cause, reference: facts.reference ?? known?.reference ?? null },
  });
  let changedRefunds: readonly string[] = [];
  if (status === 'captured' && credit !== 'held' && money !== null && input.refunds !== null) {
    const refunded = { ...{ source, paymentId, cause }, captured: money.amount, currency: money.currency };
    const pointsPerMajorUnit = input.policies.loyaltyPointsPerMajorUnit;
    const applied = await applyRefunds(
      tx,
      { ...refunded, allocation: givenBack ? 'owed_back' : 'wallet', pointsPerMajorUnit },
      null,
      input.refunds,
    );
    changedRefunds = applied.changed;
    await askAboutReturnedRefunds(tx, input, sorted.settled);
  }
  if (move !== null) changed.push(move);
  const held = outcome === 'held_for_review';
  const disputeEvents = sorted.settled.filter((event) => event.subject === 'dispute');
  const paymentEvents = sorted.settled.filter((event) => event.subject !== 'dispute');
  const oldNews = paymentEvents.filter((event) => sorted.oldNews.includes(event));
  const disputes = await applyDisputes(tx, {
    ...{ ...input, order: null, known: known?.disputed ?? false, events: disputeEvents },
  });
  await finishEvents(tx, input, [...(held ? oldNews : paymentEvents), ...disputes.done], (event) => {
    if (event.subject !== 'payment') return `${event.subject ?? 'event'}_recorded`;
    return event.eventId === winner?.event?.eventId ? outcome : outcomeForOthers(outcome);
  });
  await holdEvents(tx, input, [
    ...(held ? paymentEvents.filter((event) => !oldNews.includes(event)) : []).map((event) => ({
      event,
      reason: 'The payment waits for a decision.',
      deadLetter: false,
    })),
    ...disputes.held,
  ]);
  const claiming = await postponeEvents(tx, input, sorted.claimingMore, disputes.waiting);
  return {
    ...{ status, outcome, orderId: null, changedRefunds, changedMoves: changed },
    callerOutcomes: Object.fromEntries(
      input.callers.map((caller) => [caller, caller === winner?.cause ? outcome : outcomeForOthers(outcome)]),
    ),
    ...{ pendingEvents: claiming.pending, nextLookMs: claiming.nextLookMs },
    waitingFor: claiming.pending > 0 ? 'gateway' : null,
    needsHuman: held || claiming.held > 0 || disputes.held.length > 0,
  };
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

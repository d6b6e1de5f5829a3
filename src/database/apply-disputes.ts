import { contradictsEnd } from '../domain/dispute-states.ts';
import { DISPUTE_CURRENCIES_DIFFER, disputeStanding, type DisputeStanding } from '../domain/dispute-standing.ts';
import type { DisputeFacts } from '../domain/gateway-facts.ts';
import { deadLetterId, qualifiedEventId } from '../domain/keys.ts';
import type { Policies } from '../domain/policies.ts';
import { readDisputeEvents, type DisputeEvent } from './dispute-events.ts';
import type { EventToHold } from './hold-events.ts';
import { DISPUTE_COLUMNS, lockDisputes, type LockedDispute } from './lock-disputes.ts';
import type { LockedOrder } from './lock-order.ts';
import { recoverDeadLetters } from './open-dead-letter.ts';
import type { Tx } from './pool.ts';
import type { WaitingEvent } from './read-payment-work.ts';
import { settleDispute } from './settle-dispute.ts';
import { settleDisputedOrder } from './settle-disputed-order.ts';
import { settleDisputedWallet } from './settle-disputed-wallet.ts';

export interface DisputesToApply {
  readonly source: string;
  readonly paymentId: string;
  /** As it stands after the payment's capture and refunds; null while there is none. */
  readonly order: LockedOrder | null;
  /** A dispute of the payment was known before. */
  readonly known: boolean;
  /** The events about disputes that this look covers. */
  readonly events: readonly WaitingEvent[];
  /** What the gateway shows of them; null where it shows none: then the events are the truth. */
  readonly disputes: readonly DisputeFacts[] | null;
  readonly at: Date;
  readonly policies: Policies;
}

export interface AppliedDisputes {
  /** Events that are done by this, some of which had been held before. */
  readonly done: readonly WaitingEvent[];
  readonly held: readonly EventToHold[];
  /** What they were looked at for shows less than what is known already: the gateway is asked again, and then a person. */
  readonly waiting: readonly WaitingEvent[];
}

/**
 * Applies what is known of a payment's disputes, whether or not the payment counts, or has an order yet. Where the events are
 * the truth, all of them together are, each time: no order in which they come can change what they say.
 */
export async function applyDisputes(tx: Tx, d: DisputesToApply): Promise<AppliedDisputes> {
  if (d.events.length === 0 && !d.known) return { done: [], held: [], waiting: [] };
  const rows = new Map((await lockDisputes(tx, d.source, d.paymentId)).map((row) => [row.disputeId, row]));
  const named = (event: WaitingEvent) => event.objectId ?? d.paymentId;
  const ids = [...new Set(d.events.map(named))].sort();
  const told = await readDisputeEvents(tx, d, ids);
  const done: WaitingEvent[] = [];
  const held: EventToHold[] = [];
  const waiting: WaitingEvent[] = [];
  for (const disputeId of ids) {
    const events = d.events.filter((event) => named(event) === disputeId);
    const row = rows.get(disputeId) ?? null;
    const reports = told.filter((event) => event.disputeId === disputeId);
    const shown = d.disputes?.find((facts) => facts.disputeId === disputeId) ?? null;
    // A notice that names the payment's dispute by nothing but its payment: there is nothing to look up by.
    if (shown === null && d.disputes !== null) {
      done.push(...events);
      continue;
    }
    if (shown !== null && row !== null && contradictsEnd(row, shown)) {
      waiting.push(...events);
      continue;
    }
    const standing = shown === null ? disputeStanding(reports) : shownStanding(shown, row);
    const saved = typeof standing === 'string' ? standing : await save(tx, d, disputeId, row, standing);
    if (typeof saved === 'string') {
      held.push(...events.map((event) => ({ event, reason: saved, deadLetter: true })));
      continue;
    }
    const cause = events.find((event) => event.claimed === saved.status) ?? events[0];
    await settleDispute(tx, row, saved, cause === undefined ? 'look' : qualifiedEventId(d.source, cause.eventId));
    rows.set(disputeId, saved);
    done.push(...events, ...reports.flatMap(heldBefore));
  }
  if (d.order === null) await settleDisputedWallet(tx, [...rows.values()]);
  else if (rows.size > 0) {
    await settleDisputedOrder(tx, d.order, [...rows.values()], d.policies.loyaltyPointsPerMajorUnit);
  }
  await recoverDeadLetters(
    tx,
    done
      .filter((event) => event.state === 'held')
      .map((event) => deadLetterId('event_unreadable', d.source, event.eventId)),
  );
  return { done, held, waiting };
}

/** One that had lacked the amount until now, and that nobody asked about this time. */
function heldBefore(report: DisputeEvent): WaitingEvent[] {
  return report.waits === null ? [] : [report.waits];
}

/** What the gateway shows when it is asked is the truth. */
function shownStanding(shown: DisputeFacts, row: LockedDispute | null): DisputeStanding | string {
  const { status } = shown;
  const known = row === null ? null : { amount: row.amount, currency: row.currency };
  const { amount, currency } = shown.amount === null || shown.amount === 0n ? (known ?? shown) : shown;
  const fee = shown.fee ?? row?.fee ?? null;
  const feeCurrency = shown.fee === null ? (row?.feeCurrency ?? null) : shown.feeCurrency;
  const standing = disputeStanding([{ status, amount, currency, fee, feeCurrency, at: null }]);
  // An inquiry becomes a dispute, and never the other way round: a look that shows less is an old one.
  const withheld = shown.withheld || row?.withheld === true;
  return typeof standing === 'string' ? standing : { ...standing, withheld, openedAt: shown.openedAt };
}

/** A posting has one currency, and so has the difference of two. */
function agrees(row: LockedDispute | null, { currency, fee, feeCurrency }: DisputeStanding): boolean {
  if (row === null) return true;
  return row.currency === currency && (row.fee === 0n || fee === 0n || row.feeCurrency === feeCurrency);
}

const OTHER_PAYMENT = 'The dispute belongs to another payment.';

/** Writes the row; a sentence where it cannot be. */
async function save(
  tx: Tx,
  { source, paymentId, order, at, policies }: DisputesToApply,
  disputeId: string,
  row: LockedDispute | null,
  standing: DisputeStanding,
): Promise<LockedDispute | string> {
  const { status, amount, currency, withheld, fee, feeCurrency } = standing;
  if (!agrees(row, standing)) return DISPUTE_CURRENCIES_DIFFER;
  const stands = row?.status === status;
  // By the policy of the day on which it was lost.
  const revokes = status === 'lost' && (stands ? row.revokes : policies.disputeLost === 'revoke');
  const closedAt = standing.closedAt === null ? ((stands ? row.closedAt : null) ?? at) : new Date(standing.closedAt);
  const { rows } = await tx.query<LockedDispute>(
    `insert into disputes (source, dispute_id, payment_id, order_id, status, amount, currency, fee, fee_currency, revokes,
                           withheld, fee_postings, corrections, opened_at, closed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     on conflict (source, dispute_id) do update set
       order_id = coalesce(disputes.order_id, excluded.order_id), status = excluded.status, amount = excluded.amount,
       currency = excluded.currency, fee = excluded.fee, fee_currency = excluded.fee_currency, revokes = excluded.revokes, withheld = excluded.withheld,
       fee_postings = excluded.fee_postings, corrections = excluded.corrections,
       opened_at = coalesce(excluded.opened_at, disputes.opened_at), closed_at = excluded.closed_at, updated_at = now()
     where disputes.payment_id = excluded.payment_id
     returning ${DISPUTE_COLUMNS}`,
    [
      ...[
        source,
        disputeId,
        paymentId,
        order?.id ?? null,
        status,
        amount,
        currency,
        fee,
        feeCurrency,
        revokes,
        withheld,
      ],
      (row?.feePostings ?? 0) + Number(fee !== (row?.fee ?? 0n)),
      (row?.corrections ?? 0) + Number(stands && (amount !== row.amount || withheld !== row.withheld)),
      standing.openedAt === null ? null : new Date(standing.openedAt),
      status === 'opened' ? null : closedAt,
    ],
  );
  return rows[0] ?? OTHER_PAYMENT;
}

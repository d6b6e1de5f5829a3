import { disputeFeeTransfers, disputeTransfers } from '../domain/dispute-postings.ts';
import type { DisputeStatus } from '../domain/event-reading.ts';
import { disputeKey, disputeName, disputePostingKey } from '../domain/keys.ts';
import { gatewayAccount } from '../domain/ledger.ts';
import { formatMoney } from '../domain/money.ts';
import { announce } from './announce.ts';
import type { LockedDispute } from './lock-disputes.ts';
import type { Tx } from './pool.ts';
import { postToLedger } from './post-to-ledger.ts';
import { recordTransition } from './record-transition.ts';

/**
 * What follows from a dispute's new standing, whoever spoke of it first: its history, its books, its announcements. One that
 * is first heard of at its end was opened all the same, so that every order of events leaves the same records.
 *
 * @param before as its row was; null where it is new
 * @param after as its row is now
 */
export async function settleDispute(
  tx: Tx,
  before: LockedDispute | null,
  after: LockedDispute,
  cause: string,
): Promise<void> {
  if (before === null) {
    await post(tx, 'opened', null, { ...after, status: 'opened' });
    await become(tx, after, null, 'opened', cause);
  }
  const from = before ?? { ...after, status: 'opened' as const };
  if (from.status !== after.status) {
    await post(tx, after.status, from, after, await timesBefore(tx, after));
    await become(tx, after, from.status, after.status, cause);
  } else if (from.amount !== after.amount || from.withheld !== after.withheld) {
    await post(tx, 'corrected', from, after, from.corrections);
  }
  const fee = before?.fee ?? 0n;
  if (fee === after.fee) return;
  await postToLedger(
    tx,
    {
      key: disputePostingKey('fee', after.source, after.disputeId, before?.feePostings ?? 0),
      // Where nothing is charged any more, in the currency in which it had been.
      currency: after.fee === 0n ? (before?.feeCurrency ?? after.feeCurrency) : after.feeCurrency,
      transfers: disputeFeeTransfers(fee, after.fee, gatewayAccount(after.source)),
    },
    after,
  );
}

async function post(
  tx: Tx,
  what: DisputeStatus | 'corrected',
  before: LockedDispute | null,
  after: LockedDispute,
  repeat = 0,
): Promise<void> {
  const { source, disputeId, currency } = after;
  const transfers = disputeTransfers(before, after, gatewayAccount(source));
  await postToLedger(tx, { key: disputePostingKey(what, source, disputeId, repeat), currency, transfers }, after);
}

/** How often it had come to this already: an inquiry that ended ends again as a dispute, and a gateway may reverse itself. */
async function timesBefore(tx: Tx, { source, disputeId, status }: LockedDispute): Promise<number> {
  const { rows } = await tx.query<{ n: bigint }>(
    `select count(*) as n from state_transitions where machine = 'dispute' and object_id = $1 and to_status = $2`,
    [disputeName(source, disputeId), status],
  );
  return Number(rows[0]?.n ?? 0n);
}

async function become(
  tx: Tx,
  dispute: LockedDispute,
  from: DisputeStatus | null,
  to: DisputeStatus,
  cause: string,
): Promise<void> {
  const { source, disputeId, paymentId, orderId, amount, currency } = dispute;
  await recordTransition(tx, {
    ...{ machine: 'dispute', objectId: disputeName(source, disputeId), from, to, cause },
    ...{ detail: formatMoney({ amount, currency }), orderId, source, paymentId },
  });
  await announce(tx, orderId, [
    {
      eventType: `dispute.${to}`,
      ...(orderId === null ? { aggregateId: disputeKey(source, disputeId) } : {}),
      payload: {
        ...{ order_id: orderId, source, payment_id: paymentId, dispute_id: disputeId },
        ...{ amount: amount.toString(), currency },
      },
    },
  ]);
}

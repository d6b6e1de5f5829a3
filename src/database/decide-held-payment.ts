import { decidedBy } from '../domain/by-person.ts';
import { qualifiedEventId } from '../domain/keys.ts';
import { REFUNDS_PAYABLE } from '../domain/ledger.ts';
import type { Policies } from '../domain/policies.ts';
import { applyCapture } from './apply-capture.ts';
import { type Decision, type DecidedRow, notPossible } from './decide-dead-letter.ts';
import { lockDisputes } from './lock-disputes.ts';
import { postCapture } from './post-capture.ts';
import type { Tx } from './pool.ts';
import { reserveAutomaticRefund } from './reserve-automatic-refund.ts';
import { settleDisputedOrder } from './settle-disputed-order.ts';

/** A payment that waits for a person, as the decision needs it. */
interface HeldPayment {
  readonly source: string;
  readonly paymentId: string;
  /** Minor units that were captured; null where the gateway shows no capture. */
  readonly amount: bigint | null;
  readonly currency: string | null;
}

/**
 * A decision about a captured payment that fits no order as it is.
 * - `refund`: given back whole, by the machine's one refund.
 * - `accept`: counted for its order after all, whatever state that was in.
 * - `retry`: looked at again.
 * - `give_up`: the money stays where it is, unallocated, and the events are ignored.
 */
export async function decideHeldPayment(
  tx: Tx,
  row: DecidedRow,
  decision: Decision,
  policies: Policies,
): Promise<void> {
  const { source, paymentId, payment } = row;
  if (source === null || paymentId === null) throw new Error(`Dead letter ${row.id} names no payment.`);
  const captured = payment?.status === 'captured';
  const held = { source, paymentId, amount: captured ? payment.amount : null, currency: payment?.currency ?? null };
  switch (decision.action) {
    case 'retry':
      return lookAgain(tx, held);
    case 'refund':
      await giveBack(tx, row, held, decision);
      return closeEvents(tx, held, 'processed', 'not_payable');
    case 'accept':
      await count(tx, row, held, decision, policies);
      return closeEvents(tx, held, 'processed', 'already_paid_same_payment');
    case 'give_up':
    case 'resolve':
      return closeEvents(tx, held, 'ignored', `given up: ${decision.note}`);
  }
}

async function giveBack(tx: Tx, { payment, order }: DecidedRow, held: HeldPayment, { by }: Decision): Promise<void> {
  const { source, paymentId, amount, currency } = held;
  if (amount === null || currency === null) {
    notPossible(
      'The gateway shows no captured money of this payment: there is nothing to give back. Look again, or give up.',
    );
  }
  if (payment?.outcome === 'held_for_review' && payment.counted === null) {
    const alreadyRefunded = payment.amountRefunded;
    await postCapture(
      tx,
      { source, paymentId, order, amount, currency, alreadyPosted: true, alreadyRefunded },
      REFUNDS_PAYABLE,
    );
    await tx.query(
      `update payments set outcome = 'not_payable', updated_at = now() where source = $1 and payment_id = $2`,
      [source, paymentId],
    );
  }
  await reserveAutomaticRefund(tx, {
    ...{ kind: 'late_capture', source, paymentId, orderId: order?.id ?? null, captured: amount, currency },
    cause: decidedBy(by),
  });
}

async function count(
  tx: Tx,
  { order, payment }: DecidedRow,
  held: HeldPayment,
  { by }: Decision,
  policies: Policies,
): Promise<void> {
  const { source, paymentId, amount, currency } = held;
  if (order === null || amount === null || currency === null) {
    notPossible('There is no captured money, or no order, to count: give it back, or give up.');
  }
  // Part of a cancelled order counts already: the person keeps it, and nothing moves.
  if (payment?.counted != null) return;
  if ((payment?.amountRefunded ?? 0n) > 0n)
    notPossible('Part of it has gone back meanwhile: give back the rest, or give up.');
  if (order.status === 'paid') notPossible('The order is paid by now: this payment is extra, give it back.');
  const outcome = order.amountPaid + amount >= order.amountDue ? 'marked_paid' : 'partially_paid';
  await tx.query('update payments set outcome = $3, updated_at = now() where source = $1 and payment_id = $2', [
    ...[source, paymentId, outcome],
  ]);
  const counted = await applyCapture(
    tx,
    { action: 'count', outcome },
    {
      ...{ source, paymentId, order, amount, currency, cause: decidedBy(by), eventId: null },
      pointsPerMajorUnit: policies.loyaltyPointsPerMajorUnit,
      alreadyPosted: true,
      revive: true,
    },
  );
  // It may have been contested while it waited.
  if (payment?.disputed === true) {
    const disputes = await lockDisputes(tx, source, paymentId);
    await settleDisputedOrder(tx, counted, disputes, policies.loyaltyPointsPerMajorUnit);
  }
}

/** By its events that wait; by its newest one where none does, which repeats nothing. */
async function lookAgain(tx: Tx, { source, paymentId }: HeldPayment): Promise<void> {
  const asked = await tx.query(
    `with newest as (select event_id from webhook_events where source = $1 and payment_id = $2
                     order by received_at desc, event_id limit 1)
     update webhook_events
     set look_again_at = date_trunc('milliseconds', clock_timestamp()), handed_over_at = null, next_look_at = null
     where source = $1 and payment_id = $2 and (state in ('held', 'pending') or event_id = (select event_id from newest))`,
    [source, paymentId],
  );
  if (asked.rowCount === 0)
    notPossible('No event asks for a look at this payment: confirm it, which looks, or give up.');
}

/** A decided event becomes processed, or ignored when it was given up; either way it gets its row at the gate. */
async function closeEvents(
  tx: Tx,
  { source, paymentId }: HeldPayment,
  state: 'processed' | 'ignored',
  outcome: string,
): Promise<void> {
  const { rows } = await tx.query<{ event_id: string }>(
    `update webhook_events
     set state = $3, outcome = $4, processed_at = clock_timestamp(), next_look_at = null, look_again_at = null
     where source = $1 and payment_id = $2 and state = 'held' returning event_id`,
    [source, paymentId, state, outcome],
  );
  await tx.query(
    `insert into processed_events (consumer, event_id, outcome)
     select 'payments', event_id, $2 from unnest($1::text[]) as event_id on conflict do nothing`,
    [rows.map((row) => qualifiedEventId(source, row.event_id)), outcome],
  );
}

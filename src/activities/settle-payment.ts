import { Context } from '@temporalio/activity';
import { applyPayment, type AppliedPayment, type PaymentToApply } from '../database/apply-payment.ts';
import { noteLookFailed } from '../database/note-look-failed.ts';
import { readPaymentWork, type PaymentWork } from '../database/read-payment-work.ts';
import { quietMs } from '../domain/look-schedule.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { DisputeFacts } from '../domain/gateway-facts.ts';
import type { UnreadPayment } from '../domain/unread-payment.ts';
import type { Gateway } from '../gateways/gateway.ts';
import type { Dependencies } from './dependencies.ts';
import { sourceOf } from './source-of.ts';

export interface SettlePaymentInput {
  readonly source: string;
  readonly paymentId: string;
  /** Ids of the confirm calls that wait for an answer. */
  readonly callers: readonly string[];
  /** Look even if no event waits: somebody, or a timer, asks. */
  readonly look: boolean;
  /** The engine's time, in milliseconds since the epoch. */
  readonly at: number;
}

export interface SettledPayment extends AppliedPayment {
  /** More events wait than one step takes. */
  readonly more: boolean;
  /** The gateway asked not to be asked for as long, in milliseconds; absent where it did not. */
  readonly quietMs?: number;
}

/**
 * One look at a payment: takes all its unprocessed events, asks the gateway once, and applies what it shows in one
 * transaction. The fetch begins after the events were read, so that it covers them all.
 *
 * @returns null where nothing asked for a look: the events that woke the workflow were handled before
 */
export function createSettlePayment(deps: Dependencies) {
  return async function settlePayment(input: SettlePaymentInput): Promise<SettledPayment | null> {
    const { source, paymentId, callers } = input;
    const { gateway, mode } = sourceOf(deps, source);
    const work = await readPaymentWork(deps.pool, source, paymentId);
    // One that waits for its order is woken by its creation, though no event of it may be left.
    const asked = input.look || callers.length > 0 || work.events.length > 0 || (work.payment?.waits ?? false);
    if (!asked) return null;
    const { unreadDispute, ...shown } = await look(gateway, paymentId, {
      refundsToo: (work.payment?.refundsKnown ?? false) || work.events.some((event) => event.subject === 'refund'),
      disputes: work.events.flatMap((event) => (event.subject === 'dispute' ? [event.objectId] : [])),
    }).catch(async (error: unknown) => {
      if (error instanceof GatewayError && isOver(error, work)) return unreadBy(error);
      // A person who asks why nothing happens finds the reason at the event.
      await noteLookFailed(deps.pool, source, work.events, error instanceof Error ? error.message : String(error));
      throw error;
    });
    const known = work.payment;
    const applied = await applyPayment(deps.pool, {
      ...{ source, mode, paymentId, callers, policies: deps.policies },
      otherModeSources: [...deps.sources].flatMap(([name, other]) => (other.mode === mode ? [] : [name])),
      ...shown,
      events: work.events,
      knownOrderId: known?.decided === true ? known.orderId : (shown.facts?.orderId ?? known?.orderId ?? null),
      at: new Date(input.at),
    });
    if (unreadDispute !== null) {
      const { disputeId, error } = unreadDispute;
      const about = work.events.filter((event) => event.subject === 'dispute' && event.objectId === disputeId);
      await noteLookFailed(deps.pool, source, about, error.message);
      const what = { source, payment_id: paymentId, dispute_id: disputeId, err: error };
      deps.log.warn(what, 'a dispute cannot be read; its events wait');
    }
    if (shown.unread !== null) {
      const what = { source, payment_id: paymentId, pending: applied.pendingEvents, held: applied.heldEvents };
      deps.log.warn({ ...what, err: shown.unread.error }, 'a payment cannot be read; its events wait');
    } else if (applied.outcome !== null) deps.metrics.paymentsApplied.inc({ outcome: applied.outcome });
    deps.wakeRelay();
    // Events that all go on waiting are no reason to look again at once, unless others have not been looked at at all.
    const waiting = shown.unread === null ? applied.pendingEvents + applied.heldEvents : work.events.length;
    const fresh = work.events.every((event) => event.nextLookAt === null);
    const more = work.more && (waiting < work.events.length || fresh);
    const patience = shown.unread?.retryAfterMs ?? 0;
    return { ...applied, more, ...(patience > LONGEST_PATIENCE_MS ? { quietMs: quietMs(patience) } : {}) };
  };
}

/**
 * One lost answer is no news: this many tries, which with full jitter take about a second, are one look, after those that the local
 * activity has had. What is left then is taken up by the next look, and in the end by a person.
 */
const ORDINARY_TRIES = 3;
/** A gateway that wants more patience than this is not asked again within the same look, and nobody is kept waiting for it. */
const LONGEST_PATIENCE_MS = 2_000;

/** Whether the look ends with this failure. What was not to be read before, or asks for patience, is tried once: a flood stays cheap. */
function isOver({ retryAfterMs }: GatewayError, work: PaymentWork): boolean {
  const { attempt, isLocal } = Context.current().info;
  return work.unread || (retryAfterMs ?? 0) > LONGEST_PATIENCE_MS || (!isLocal && attempt >= ORDINARY_TRIES);
}

type Look = Pick<PaymentToApply, 'facts' | 'refunds' | 'disputes'> & {
  readonly unread: (UnreadPayment & { readonly error: GatewayError }) | null;
} & Pick<ShownDisputes, 'unreadDispute'>;

function unreadBy(error: GatewayError): Look {
  const unread = { message: error.message, retryAfterMs: error.retryAfterMs ?? 0, error };
  return { facts: null, refunds: null, disputes: null, unreadDispute: null, unread };
}

async function look(
  gateway: Gateway,
  paymentId: string,
  options: { readonly refundsToo: boolean; readonly disputes: readonly (string | null)[] },
): Promise<Look> {
  const facts = await gateway.fetchPayment(paymentId);
  const refunded = facts?.amountRefunded !== null && facts?.amountRefunded !== undefined && facts.amountRefunded > 0n;
  const refunds = facts !== null && (options.refundsToo || refunded) ? await gateway.listRefunds(paymentId) : null;
  const none = { disputes: null, unreadDispute: null };
  return {
    facts,
    refunds,
    unread: null,
    ...(facts === null ? none : await lookAtDisputes(gateway, paymentId, options.disputes)),
  };
}

interface ShownDisputes {
  /** Null where the gateway shows none, or nothing speaks of any. */
  readonly disputes: readonly DisputeFacts[] | null;
  /** The last one that could not be read, and why. */
  readonly unreadDispute: { readonly disputeId: string; readonly error: GatewayError } | null;
}

/**
 * Those that events speak of. One that cannot be read counts as not shown, so that its own events wait for the next look, and the
 * payment's money does not: that was read.
 */
async function lookAtDisputes(
  gateway: Gateway,
  paymentId: string,
  named: readonly (string | null)[],
): Promise<ShownDisputes> {
  if (!gateway.capabilities.showsDisputes || named.length === 0) return { disputes: null, unreadDispute: null };
  const disputes: DisputeFacts[] = [];
  let unreadDispute: ShownDisputes['unreadDispute'] = null;
  for (const disputeId of new Set(named)) {
    if (disputeId === null) continue;
    try {
      const dispute = await gateway.fetchDispute(disputeId);
      // About another payment it says nothing here.
      if (dispute?.paymentId === paymentId) disputes.push(dispute);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      unreadDispute = { disputeId, error };
    }
  }
  return { disputes, unreadDispute };
}

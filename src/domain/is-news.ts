import type { AdmittedEvent } from './admit-event.ts';
import type { DisputeStatus } from './event-reading.ts';
import { paymentReaches, type PaymentStatus } from './payment-states.ts';
import type { GatewayRefundStatus, RefundStatus } from './refund-states.ts';
import { type EventWeight, weighDisputeEvent, weighRefundEvent } from './weigh-event.ts';

/** What our tables say of the things that an event names; null where they do not know one. */
export interface KnownStates {
  readonly payment: PaymentStatus | null;
  readonly refund: RefundStatus | null;
  readonly dispute: DisputeStatus | null;
  /** Whether the gateway keeps its money back, as far as we know. */
  readonly withheld: boolean | null;
  readonly payout: RefundStatus | null;
  /** Another event about the same thing, which is in the inbox, claims the same. */
  readonly claimed: boolean;
}

/**
 * Whether something that happened at a gateway, and of which no webhook may ever have been due, is more than we know (H2). What
 * we know already, by whichever event, a look or our own call, is none.
 */
export function isNews(event: AdmittedEvent, known: KnownStates): boolean {
  if (event.state === 'ignored') return false;
  if (event.state === 'held') return true;
  if (hasEscalated(event, known)) return true;
  if (known.claimed) return false;
  switch (event.subject) {
    case 'payment':
      return isPaymentNews(event.claimed as PaymentStatus | null, known.payment);
    case 'refund':
      // A hint that names no refund: each refund has events of its own.
      if (event.claimed === null) return known.payment === null;
      return claimsMore(weighRefundEvent(event.claimed as GatewayRefundStatus, shown(known.refund)));
    case 'dispute':
      return claimsMore(weighDisputeEvent(event.claimed as DisputeStatus | null, known.dispute));
    case 'payout':
      // One without our reference that we do not know either is the gateway's own.
      if (known.payout === null) return event.reference !== null;
      return claimsMore(weighRefundEvent(payoutClaim(event.claimed), shown(known.payout)));
    case null:
      return true;
  }
}

/** An inquiry that becomes a dispute is open before and after, and only its money tells that something has happened. */
function hasEscalated({ subject, claimed, withheld }: AdmittedEvent, known: KnownStates): boolean {
  const open = subject === 'dispute' && claimed === 'opened' && known.dispute === 'opened';
  return open && known.withheld === false && withheld === true;
}

/** What is known here is no fetch: where each can follow the other, as failed and pending, what happened may be the later one. */
function isPaymentNews(claimed: PaymentStatus | null, known: PaymentStatus | null): boolean {
  if (known === null) return true;
  return claimed !== null && claimed !== known && paymentReaches(known, claimed);
}

function claimsMore(weight: EventWeight): boolean {
  return weight === 'claims_more';
}

/** What is in doubt here is sent, and no more than that is known. */
function shown(status: RefundStatus | null): GatewayRefundStatus | null {
  return status === 'unknown' || status === 'needs_review' ? 'pending' : status;
}

function payoutClaim(claimed: AdmittedEvent['claimed']): GatewayRefundStatus | null {
  if (claimed === 'paid') return 'succeeded';
  return claimed === 'failed' || claimed === 'pending' ? claimed : null;
}

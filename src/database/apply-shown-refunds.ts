import type { PaymentToApply } from './apply-payment.ts';
import { applyRefunds, type AppliedRefunds, type RefundedPayment } from './apply-refunds.ts';
import { askAboutReturnedRefunds } from './ask-about-returned-refunds.ts';
import type { LockedOrder } from './lock-order.ts';
import type { Tx } from './pool.ts';
import type { WaitingEvent } from './read-payment-work.ts';

/** Captured money whose refunds may have been looked at along with it. */
export interface CapturedMoney extends Pick<RefundedPayment, 'allocation' | 'cause'> {
  readonly amount: bigint;
  readonly currency: string;
  /** As it stands after the capture; null where the money is for none. */
  readonly order: LockedOrder | null;
}

/**
 * Applies what a look shows of the refunds of captured money. Without an answer about them nothing is done.
 *
 * @param events that the look covers
 */
export async function applyShownRefunds(
  tx: Tx,
  input: PaymentToApply,
  { amount, order, ...money }: CapturedMoney,
  events: readonly WaitingEvent[],
): Promise<AppliedRefunds> {
  if (input.refunds === null) return { order, changed: [] };
  const { source, paymentId, policies } = input;
  const payment = { ...money, source, paymentId, captured: amount };
  const applied = await applyRefunds(
    tx,
    { ...payment, pointsPerMajorUnit: policies.loyaltyPointsPerMajorUnit },
    order,
    input.refunds,
  );
  await askAboutReturnedRefunds(tx, input, events);
  return applied;
}

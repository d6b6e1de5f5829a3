import type { PaymentFacts } from './gateway-facts.ts';
import { formatMoney, type Money } from './money.ts';
import type { PaymentStatus } from './payment-states.ts';

/** Captured money as it was when it was decided; what is missing then was not decided. */
interface DecidedMoney {
  readonly status: PaymentStatus;
  readonly amount: bigint | null;
  readonly currency: string | null;
}

/**
 * Whether a gateway shows another amount of a captured payment than the one that was decided (B5). A capture of less than was authorised
 * changes nothing that was decided, and refunds stand beside the amount.
 *
 * @returns null where one of the two says nothing about it
 */
export function capturedAnew(
  known: DecidedMoney | null,
  { status, amount, currency }: Pick<PaymentFacts, 'status' | 'amount' | 'currency'>,
): { readonly decided: Money; readonly shown: Money; readonly changed: boolean } | null {
  if (known?.status !== 'captured' || known.amount === null || known.currency === null) return null;
  if (status !== 'captured' || amount === null || currency === null) return null;
  const decided = { amount: known.amount, currency: known.currency };
  return {
    decided,
    shown: { amount, currency },
    changed: decided.amount !== amount || decided.currency !== currency,
  };
}

/** For the person who is asked about it. */
export function changedAmountQuestion(decided: Money, shown: Money): string {
  return (
    `The gateway showed a capture of ${formatMoney(decided)} when it was decided, and shows ${formatMoney(shown)} now. ` +
    'What was decided stands; see at the gateway which is true, and settle the difference there.'
  );
}

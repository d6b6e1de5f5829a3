import type { RefundFacts } from './gateway-facts.ts';

/** Beyond it the exact choice would take too long to find; no payment has that many refunds. */
const MOST_REFUNDS = 16;

/**
 * Which of a gateway's refunds make up what had gone back before a payment was imported: those that add up to it, else as many as fit,
 * the largest first. They are old news, and no refund of ours.
 *
 * @param amount what is still to be accounted for, in minor units
 */
export function refundsBeforeImport(amount: bigint, refunds: readonly RefundFacts[]): readonly RefundFacts[] {
  const done = refunds
    .filter((refund) => refund.status === 'succeeded')
    .toSorted((a, b) => (a.amount === b.amount ? (a.refundId < b.refundId ? -1 : 1) : a.amount > b.amount ? -1 : 1));
  return (done.length <= MOST_REFUNDS ? exactly(amount, done) : null) ?? greedily(amount, done);
}

function exactly(amount: bigint, [first, ...rest]: readonly RefundFacts[]): RefundFacts[] | null {
  if (amount === 0n) return [];
  if (first === undefined) return null;
  const withFirst = first.amount <= amount ? exactly(amount - first.amount, rest) : null;
  return withFirst === null ? exactly(amount, rest) : [first, ...withFirst];
}

function greedily(amount: bigint, refunds: readonly RefundFacts[]): RefundFacts[] {
  let left = amount;
  return refunds.filter((refund) => {
    if (refund.amount > left) return false;
    left -= refund.amount;
    return true;
  });
}

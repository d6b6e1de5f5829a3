/** What an order's consequences stand on. Minor units. */
export interface OrderMoney {
  readonly amountPaid: bigint;
  readonly amountRefunded: bigint;
  /** Lost disputes of counted payments, where the policy is to revoke. */
  readonly amountChargedBack: bigint;
}

/** The money of an order that is still here; never below zero. */
export function moneyKept({ amountPaid, amountRefunded, amountChargedBack }: OrderMoney): bigint {
  const gone = amountRefunded + amountChargedBack;
  return amountPaid > gone ? amountPaid - gone : 0n;
}

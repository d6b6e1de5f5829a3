import type { GatewayError } from '../../domain/gateway-error.ts';
import type { StripeApi } from './stripe-api.ts';

/** What all calls of one Stripe account share. */
export interface StripeAccount {
  /** The configured account's name; stands in every message. */
  readonly source: string;
  readonly api: StripeApi;
  /** A rejection before anything was sent, and our own mistake. `why` completes "stripe …, so nothing was sent". */
  readonly refuse: (why: string, code: string) => GatewayError;
  /** Minor units of ISO 4217 as Stripe counts them. Throws a rejected `amount_not_exact` where that cannot be exact. */
  readonly literalAmount: (amount: bigint, currency: string) => bigint;
  /** The same for a payment, which Stripe takes in larger steps in some currencies; rejected likewise between them. */
  readonly payableAmount: (amount: bigint, currency: string) => bigint;
}

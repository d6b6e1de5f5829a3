import type { GatewayError } from '../../domain/gateway-error.ts';
import type { RazorpayApi } from './razorpay-api.ts';

/** What all calls of one Razorpay account share. */
export interface RazorpayAccount {
  /** The configured account's name; stands in every message. */
  readonly source: string;
  readonly api: RazorpayApi;
  /** The bank account of the merchant's that payouts are paid from; null: none is configured. */
  readonly accountNumber: string | null;
  /** A rejection before anything was sent, and our own mistake. */
  readonly refuse: (message: string, code: string) => GatewayError;
  /** Minor units of ISO 4217 as Razorpay counts them. Throws a rejected `amount_not_exact` where that cannot be exact. */
  readonly literalAmount: (amount: bigint, currency: string) => bigint;
  /** For an answer that is not what was asked for. */
  readonly misread: (what: string, kind: 'temporary' | 'unknown') => GatewayError;
}

import type { RefundStatus } from '../domain/refund-states.ts';

/*
 * What moves money over HTTP. Amounts are integers in minor units of the currency beside them; moments are ISO 8601.
 */

/** What every refund, payout, charge, top-up, capture and void says of itself. */
interface MoneyMove {
  id: string;
  /** `unknown`: its outcome is being looked up. `needs_review`: a person decides. */
  status: RefundStatus;
  amount: number;
  currency: string;
  source: string;
  /** Why it failed, or waits for a person. */
  failure_code: string | null;
  created_at: string;
}

export interface NewRefund {
  source: string;
  payment_id: string;
  /** All that is still refundable if left out. */
  amount?: number | undefined;
  reason?: string | null | undefined;
}

export interface Refund extends MoneyMove {
  payment_id: string;
  order_id: string | null;
  kind: 'requested' | 'extra_capture' | 'late_capture' | 'gateway';
  reason: string | null;
  gateway_refund_id: string | null;
  /** Null where somebody began it at the gateway. */
  workflow_id: string | null;
}

export interface NewPayout {
  source: string;
  seller_id: string;
  /** A day, such as 2026-12-01: a seller has one payout for each. */
  settlement_date: string;
  amount: number;
  currency: string;
  /** The gateway's name of the account that the money goes to. */
  destination: string;
}

export interface Payout extends MoneyMove {
  mode: 'test' | 'live';
  seller_id: string;
  settlement_date: string;
  destination: string;
  gateway_payout_id: string | null;
  workflow_id: string;
}

/** Money that a saved card is to be charged. */
export interface NewTopUp {
  source: string;
  /** The gateway's name of the customer. */
  customer_id: string;
  /** The gateway's name of the saved card. */
  payment_method: string;
  amount: number;
  currency: string;
}

export interface NewCharge extends NewTopUp {
  order_id: string;
}

interface CardPayment extends MoneyMove {
  customer_id: string;
  payment_method: string;
  /** The payment that it became at the gateway; its timeline is found by it. */
  payment_id: string | null;
  workflow_id: string;
}

export interface Charge extends CardPayment {
  order_id: string;
  gateway_charge_id: string | null;
}

export interface TopUp extends CardPayment {
  wallet_id: string;
  /** The wallet's, at this moment. */
  balance: number;
  gateway_top_up_id: string | null;
}

export interface Wallet {
  id: string;
  currency: string;
  balance: number;
}

interface EndOfAuthorization extends MoneyMove {
  payment_id: string;
  order_id: string | null;
  workflow_id: string;
}

export interface Capture extends EndOfAuthorization {
  /** The payment, once the gateway has taken the call. */
  gateway_capture_id: string | null;
}

export interface Void extends EndOfAuthorization {
  /** The payment, once the gateway has taken the call. */
  gateway_void_id: string | null;
}

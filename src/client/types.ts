import type { OrderStatus } from '../domain/order-states.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import type { RefundStatus } from '../domain/refund-states.ts';
import type { TimelineKind } from '../domain/timeline-kinds.ts';

/*
 * What goes over HTTP. Amounts are integers in minor units of the currency beside them; moments are ISO 8601.
 */

export type LineKind = 'booking' | 'enrolment' | 'gift_card' | 'package' | 'product' | 'shipping' | 'tax' | 'discount';

export interface NewOrder {
  /** Yours; one is made if left out. */
  id?: string | null | undefined;
  currency: string;
  /** The sum of the lines. */
  amount: number;
  customer: { id: string; email?: string | null | undefined; name?: string | null | undefined };
  lines: {
    id: string;
    kind: LineKind;
    /** The line's total; only a discount's is negative. */
    amount: number;
    quantity?: number | null | undefined;
    reference?: string | null | undefined;
  }[];
  expires_at?: string | null | undefined;
}

export interface OrderRefund {
  id: string;
  source: string;
  payment_id: string;
  amount: number;
  status: RefundStatus;
  kind: 'requested' | 'extra_capture' | 'late_capture' | 'gateway';
  gateway_refund_id: string | null;
}

export interface Order {
  id: string;
  status: OrderStatus;
  currency: string;
  amount_due: number;
  amount_paid: number;
  amount_refunded: number;
  surplus: number;
  paid_source: string | null;
  paid_payment_id: string | null;
  paid_at: string | null;
  disputed: boolean;
  customer: { id: string; email: string | null; name: string | null };
  created_at: string;
  expires_at: string | null;
  lines: { id: string; kind: LineKind; amount: number; quantity: number; reference: string | null }[];
  payments: { source: string; payment_id: string; status: PaymentStatus; amount: number | null; counted: boolean }[];
  refunds: OrderRefund[];
  consequences: {
    bookings: { line_id: string; status: 'confirmed' | 'cancelled' }[];
    loyalty: { payment_id: string; refund_id: string | null; points: number }[];
    gift_cards: {
      line_id: string;
      unit: number;
      amount: number;
      remaining: number;
      status: 'active' | 'limited' | 'disabled';
    }[];
    packages: { line_id: string; unit: number; status: 'active' | 'disabled' }[];
    invoices: { number: number; kind: 'invoice' | 'credit_note'; amount: number }[];
  };
}

export interface Checkout {
  order_id: string;
  n: number;
  source: string;
  status: 'pending' | 'succeeded' | 'failed' | 'unknown' | 'needs_review';
  payment_id?: string | undefined;
  /** Where the customer pays; or the client_secret. */
  checkout_url?: string | undefined;
  client_secret?: string | undefined;
  failure_code?: string | undefined;
  workflow_id: string;
}

export interface Payment {
  source: string;
  payment_id: string;
  order_id: string | null;
  status: PaymentStatus;
  amount: number | null;
  currency: string | null;
  amount_refunded: number;
  counted: boolean;
  outcome: PaymentOutcome | null;
  refunds: {
    id: string;
    amount: number;
    currency: string;
    status: RefundStatus;
    kind: OrderRefund['kind'];
    gateway_refund_id: string | null;
    failure_code: string | null;
  }[];
  /** What its customer contested. */
  disputes: {
    /** The payment's id where the gateway gives its disputes none. */
    dispute_id: string;
    status: 'opened' | 'won' | 'lost';
    amount: number;
    currency: string;
    /** Whether the gateway keeps the money back now. */
    withheld: boolean;
    /** What the gateway has charged for it, less what it gave back. */
    fee: number;
    fee_currency: string;
    opened_at: string | null;
    closed_at: string | null;
  }[];
  workflow_id: string;
  temporal_url: string | null;
}

export interface Confirmation {
  /** This caller's own. */
  outcome: PaymentOutcome;
  order: Order | null;
}

export interface TimelineEntry {
  at: string;
  kind: TimelineKind;
  text: string;
}

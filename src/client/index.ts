/** `paidonce/client`: what other services import. */
export { PaidonceError } from './api-error.ts';
export { createHttpClient, type HttpClient, type HttpClientOptions, type Keyed } from './http-client.ts';
export { createWorkflowClient, type WorkflowClient } from './workflow-client.ts';
export type {
  Capture,
  Charge,
  NewCharge,
  NewPayout,
  NewRefund,
  NewTopUp,
  Payout,
  Refund,
  TopUp,
  Void,
  Wallet,
} from './money-types.ts';
export type {
  Checkout,
  Confirmation,
  LineKind,
  NewOrder,
  Order,
  OrderRefund,
  Payment,
  TimelineEntry,
} from './types.ts';
export type {
  CheckoutState,
  DecideInput,
  DecideResult,
  DeliveryStateAnswer,
  MoneyState,
  PaymentState,
} from '../workflows/messages.ts';
export type { OrderStatus } from '../domain/order-states.ts';
export type { PaymentOutcome } from '../domain/payment-outcome.ts';
export type { PaymentStatus } from '../domain/payment-states.ts';
export type { RefundStatus } from '../domain/refund-states.ts';

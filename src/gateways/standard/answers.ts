import { z } from 'zod';
import type { PaymentFacts, PayoutFacts, PreparedPayment, RefundFacts } from '../../domain/gateway-facts.ts';
import { PAYMENT_STATUSES } from '../../domain/payment-states.ts';
import { readAmount, readCurrency, readId, readReference } from '../fields.ts';

/** A field read by one of `fields.ts`; what cannot be understood makes the whole answer an odd one. */
function field<T>(read: (value: unknown) => T | undefined) {
  return z
    .unknown()
    .optional()
    .transform((value, context) => {
      const found = read(value);
      if (found !== undefined) return found;
      context.addIssue('cannot be understood');
      return z.NEVER;
    });
}

/** A field that the answer must have. */
function required<T>(read: (value: unknown) => T | null | undefined) {
  return field((value) => read(value) ?? undefined);
}

const id = required(readId);
const reference = field(readReference);
/** A browser is sent there, so nothing but a web address will do. */
const webAddress = z.url({ protocol: /^https?$/ }).nullish();

const payment = z.object({
  payment_id: id,
  order_id: field(readId),
  reference,
  status: z.enum(PAYMENT_STATUSES),
  amount: field(readAmount),
  currency: field(readCurrency),
  amount_refunded: field(readAmount),
  mode: z.enum(['test', 'live']).nullish(),
  checkout_url: webAddress,
  client_secret: z.string().min(1).nullish(),
});

const refund = z.object({
  refund_id: id,
  payment_id: id,
  amount: required(readAmount),
  currency: required(readCurrency),
  status: z.enum(['pending', 'succeeded', 'failed']),
  reference,
  failure_code: z.string().max(200).nullish().catch(null),
});

const payout = z.object({
  payout_id: id,
  status: z.enum(['pending', 'paid', 'failed']),
  amount: required(readAmount),
  currency: required(readCurrency),
  reference,
  failure_code: z.string().max(200).nullish().catch(null),
});

function toPaymentFacts(answer: z.infer<typeof payment>): PaymentFacts {
  return {
    paymentId: answer.payment_id,
    orderId: answer.order_id,
    reference: answer.reference,
    status: answer.status,
    amount: answer.amount,
    currency: answer.currency,
    amountRefunded: answer.amount_refunded,
    mode: answer.mode ?? null,
  };
}

/** Each throws `z.ZodError` for an answer that the protocol does not allow. */
export const paymentAnswer = payment.transform(toPaymentFacts);

export const preparedPaymentAnswer = payment.transform((answer): PreparedPayment => ({
  payment: toPaymentFacts(answer),
  checkoutUrl: answer.checkout_url ?? null,
  clientSecret: answer.client_secret ?? null,
}));

export const refundAnswer = refund.transform((answer): RefundFacts => ({
  refundId: answer.refund_id,
  paymentId: answer.payment_id,
  amount: answer.amount,
  currency: answer.currency,
  status: answer.status,
  reference: answer.reference,
  failureCode: answer.failure_code ?? null,
}));

export const refundsAnswer = z.object({ data: z.array(refundAnswer) }).transform(({ data }) => data);
export const preparedPaymentsAnswer = z.object({ data: z.array(preparedPaymentAnswer) }).transform(({ data }) => data);

export const payoutAnswer = payout.transform((answer): PayoutFacts => ({
  payoutId: answer.payout_id,
  amount: answer.amount,
  currency: answer.currency,
  status: answer.status,
  reference: answer.reference,
  failureCode: answer.failure_code ?? null,
}));

export const paymentsAnswer = z.object({ data: z.array(paymentAnswer) }).transform(({ data }) => data);
export const payoutsAnswer = z.object({ data: z.array(payoutAnswer) }).transform(({ data }) => data);

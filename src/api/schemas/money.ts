import { z } from 'zod';
import { REFUND_STATUSES } from '../../domain/refund-states.ts';
import { amount, currency, positiveAmount, text, time, visibleId } from './common.ts';

const source = text(32).describe('The name of a configured source.');

export const newRefund = z
  .strictObject({
    source,
    payment_id: visibleId,
    amount: positiveAmount.optional().describe('Minor units; all that is still refundable if left out.'),
    reason: text(500).nullish(),
  })
  .meta({ id: 'NewRefund' });

export const newPayout = z
  .strictObject({
    source,
    seller_id: visibleId.describe('It goes into the id of the payout.'),
    settlement_date: z.iso
      .date({ error: 'must be a day, such as 2026-12-01' })
      .meta({ pattern: undefined, description: 'A seller has one payout per day.' }),
    amount: positiveAmount,
    currency,
    destination: text(500).describe("The gateway's name of the account that the money goes to."),
  })
  .meta({ id: 'NewPayout' });

const savedCard = {
  customer_id: text(200).describe("The gateway's name of the customer."),
  payment_method: text(500).describe("The gateway's name of the saved card."),
};

export const newCharge = z
  .strictObject({ source, order_id: visibleId, ...savedCard, amount: positiveAmount, currency })
  .meta({ id: 'NewCharge' });

export const newTopUp = z
  .strictObject({ source, ...savedCard, amount: positiveAmount, currency })
  .meta({ id: 'NewTopUp' });

export const newCapture = z
  .strictObject({
    amount: positiveAmount
      .optional()
      .describe('Minor units; all that is authorised if left out. The rest is released.'),
  })
  .meta({ id: 'NewCapture' });

export const newVoid = z.strictObject({}).meta({ id: 'NewVoid' });

const move = {
  id: z.string(),
  status: z.enum(REFUND_STATUSES).describe('unknown: its outcome is being looked up. needs_review: a person decides.'),
  amount,
  currency: z.string(),
  source: z.string(),
  failure_code: z.string().nullable().describe('Why it failed, or waits for a person.'),
  created_at: time,
};

export const refund = z
  .strictObject({
    ...move,
    payment_id: z.string(),
    order_id: z.string().nullable(),
    kind: z.enum(['requested', 'extra_capture', 'late_capture', 'gateway']),
    reason: z.string().nullable(),
    gateway_refund_id: z.string().nullable(),
    workflow_id: z.string().nullable().describe('Null where somebody began it at the gateway.'),
  })
  .meta({ id: 'Refund' });

export const payout = z
  .strictObject({
    ...move,
    mode: z.enum(['test', 'live']),
    seller_id: z.string(),
    settlement_date: z.string(),
    destination: z.string(),
    gateway_payout_id: z.string().nullable(),
    workflow_id: z.string(),
  })
  .meta({ id: 'Payout' });

const cardPayment = {
  ...move,
  customer_id: z.string(),
  payment_method: z.string(),
  payment_id: z.string().nullable().describe('The payment that it became at the gateway; its timeline is found by it.'),
  workflow_id: z.string(),
};

export const charge = z
  .strictObject({ ...cardPayment, order_id: z.string(), gateway_charge_id: z.string().nullable() })
  .meta({ id: 'Charge' });

export const topUp = z
  .strictObject({
    ...cardPayment,
    wallet_id: z.string(),
    balance: amount.describe("The wallet's, at this moment."),
    gateway_top_up_id: z.string().nullable(),
  })
  .meta({ id: 'TopUp' });

const endOfPayment = { ...move, payment_id: z.string(), order_id: z.string().nullable(), workflow_id: z.string() };
const PLACED = 'The payment, once the gateway has taken the call.';

export const capture = z
  .strictObject({ ...endOfPayment, gateway_capture_id: z.string().nullable().describe(PLACED) })
  .meta({ id: 'Capture' });

export const voided = z
  .strictObject({ ...endOfPayment, gateway_void_id: z.string().nullable().describe(PLACED) })
  .meta({ id: 'Void' });

export const wallet = z.strictObject({ id: z.string(), currency: z.string(), balance: amount }).meta({ id: 'Wallet' });

import { z } from 'zod';
import { PAYMENT_OUTCOMES } from '../../domain/payment-outcome.ts';
import { PAYMENT_STATUSES } from '../../domain/payment-states.ts';
import { TIMELINE_KINDS } from '../../domain/timeline-kinds.ts';
import { amount, time } from './common.ts';
import { order, refund } from './order.ts';

export const payment = z
  .strictObject({
    source: z.string(),
    payment_id: z.string(),
    order_id: z.string().nullable(),
    status: z.enum(PAYMENT_STATUSES),
    amount: amount.nullable(),
    currency: z.string().nullable(),
    amount_refunded: amount,
    counted: z.boolean().describe('Whether it counts for its order.'),
    outcome: z.enum(PAYMENT_OUTCOMES).nullable(),
    refunds: z.array(
      refund
        .omit({ source: true, payment_id: true })
        .extend({ currency: z.string(), failure_code: z.string().nullable() }),
    ),
    disputes: z
      .array(
        z.strictObject({
          dispute_id: z.string().describe("The payment's id where the gateway gives its disputes none."),
          status: z.enum(['opened', 'won', 'lost']),
          amount,
          currency: z.string(),
          withheld: z.boolean().describe('Whether the gateway keeps the money back now.'),
          fee: amount.describe('What the gateway has charged for it, less what it gave back.'),
          fee_currency: z.string(),
          opened_at: time.nullable(),
          closed_at: time.nullable(),
        }),
      )
      .describe('What its customer contested.'),
    workflow_id: z.string(),
    temporal_url: z.string().nullable(),
  })
  .meta({ id: 'Payment' });

export const confirmation = z
  .strictObject({
    outcome: z.enum(PAYMENT_OUTCOMES),
    order: order.nullable().describe('Null while the payment is matched with none.'),
  })
  .meta({ id: 'Confirmation' });

export const timeline = z
  .strictObject({
    data: z.array(
      z.strictObject({
        at: time,
        kind: z.enum(TIMELINE_KINDS),
        text: z.string(),
      }),
    ),
    next_cursor: z.null(),
  })
  .meta({ id: 'Timeline' });

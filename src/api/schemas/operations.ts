import { z } from 'zod';
import { ALERT_CHANNELS } from '../../domain/plan-alerts.ts';
import { amount, moment, page, text, time } from './common.ts';

const EVENT_STATES = ['pending', 'processed', 'ignored', 'held'] as const;

const filters = {
  source: text(32).optional(),
  type: text(255).optional(),
  payment_id: text(200).optional(),
  order_id: text(200).optional(),
  state: z.enum(EVENT_STATES, { error: `must be one of ${EVENT_STATES.join(', ')}` }).optional(),
  from: moment.optional().meta({ description: 'Received at or after.' }),
  to: moment.optional().meta({ description: 'Received before.' }),
};

/** Which events: those that all of these are true of. */
export const eventChoice = z.strictObject(filters);

export const eventFilter = page.extend(filters);

export const replayRequest = z.strictObject({
  filter: eventChoice.describe('Empty: every event. Ignored ones only where `state` asks for them.'),
  dry_run: z.boolean({ error: 'must be true or false' }).optional().describe('Only count them.'),
  cursor: z.string().min(1).max(4096).optional().describe('The next_cursor of the batch before.'),
});

export const replayBatch = z
  .strictObject({
    count: z.int().describe('Events of this batch; with `dry_run`, of all batches.'),
    at: time.describe("The database's time; given as `to`, it keeps out what comes later."),
    next_cursor: z.string().nullable().describe('Ask again with it; null: this was the last batch.'),
  })
  .meta({ id: 'ReplayBatch' });

export const event = z
  .strictObject({
    source: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    payment_id: z.string().nullable(),
    order_id: z.string().nullable(),
    state: z.enum(EVENT_STATES),
    outcome: z.string().nullable().describe("The payment's outcome, or why it was ignored."),
    received_at: time,
    handed_over_at: time.nullable(),
    processed_at: time.nullable(),
    attempts: z.int(),
    last_error: z.string().nullable(),
    found_at: time
      .nullable()
      .describe('When it was found at the gateway, its webhook not having come; null for a delivered one.'),
    deliveries: z
      .array(z.strictObject({ received_at: time, differs: z.boolean() }))
      .describe('One per accepted delivery, the first included; none of a found event whose webhook never came.'),
  })
  .meta({ id: 'Event' });

export const fullEvent = event
  .extend({
    raw_base64: z
      .string()
      .nullable()
      .describe("The first delivery's body, or what the gateway listed; null once it is older than what is kept."),
    headers: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'FullEvent' });

export const reconcileRequest = z.strictObject({
  source: text(32).optional().describe('One source only; all without.'),
});

export const reconciliations = z
  .strictObject({
    data: z.array(
      z.strictObject({
        source: z.string(),
        workflow_id: z.string(),
        status: z.enum(['completed', 'running']),
        checked: z.int().nullable().describe('What is not over; null while it is running.'),
        restarted: z.int().nullable().describe('How many runs of it were gone.'),
        examples: z.array(z.string()).describe('Their ids, a hundred at most.'),
        missing_webhooks: z
          .strictObject({
            workflow_id: z.string(),
            status: z.enum(['completed', 'running']),
            listed: z.int().nullable().describe('Entries that the gateway listed; null while it is running.'),
            found: z.int().nullable().describe('Events whose webhooks never came.'),
            left: z.int().nullable().describe('Events so young that their webhooks may be on their way.'),
            examples: z.array(z.string()).describe('The ids of those that were found, a hundred at most.'),
            unfinished: z.boolean().nullable().describe('Whether the list goes on; the next run does, too.'),
            problem: z.string().nullable().describe('Why the gateway gave no list.'),
          })
          .describe('The search at the gateway for webhooks that never came.'),
      }),
    ),
  })
  .meta({ id: 'Reconciliations' });

const CHOICES = ['retry', 'resolve', 'give_up', 'refund', 'accept'] as const;

export const deadLetter = z
  .strictObject({
    id: z.string(),
    kind: z.string(),
    status: z.enum(['open', 'decided', 'recovered']),
    source: z.string().nullable(),
    event_id: z.string().nullable(),
    order_id: z.string().nullable(),
    payment_id: z.string().nullable(),
    refund_id: z.string().nullable(),
    amount: amount.nullable(),
    currency: z.string().nullable(),
    extra_capture: z.boolean(),
    since: time,
    closed_at: time.nullable(),
    last_error: z.string(),
    workflow_id: z.string().nullable(),
    choices: z.array(z.enum(CHOICES)),
    decision: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'DeadLetter' });

export const decision = z
  .strictObject({
    action: z.enum(CHOICES, { error: `must be one of ${CHOICES.join(', ')}` }),
    note: text(2_000).regex(/\S/, { error: 'must say why' }).describe('Why.'),
    outcome: z.enum(['succeeded', 'failed']).optional().describe('With `resolve`: what was seen at the gateway.'),
    gateway_id: text(255).optional().describe("With `resolve`: the gateway's object that was seen."),
  })
  .meta({ id: 'Decision' });

export const audit = z
  .strictObject({ ok: z.boolean(), checked: z.unknown(), violations: z.array(z.unknown()) })
  .meta({ id: 'Audit' });

export const health = z.strictObject({ status: z.literal('ok') });

const part = z.enum(['ok', 'degraded']);

export const readiness = z
  .strictObject({
    status: z.enum(['ok', 'unavailable']),
    database: z.enum(['ok', 'unavailable']),
    migrations: z.enum(['ok', 'missing', 'unknown']),
    temporal: part,
    relay: part.describe('Degraded while an event waits too long to be handed over.'),
    mail: part.describe('Degraded without a mail server: receipts are not sent.'),
    alerts: part.describe('Degraded while people should have been told of something five minutes ago, and were not.'),
    audit: part.describe('Degraded while the scheduled audit finds a promise broken.'),
    audit_violations: z.array(z.string()).describe('What it calls the broken promises.'),
    alert_channels: z
      .array(z.enum(ALERT_CHANNELS))
      .describe('Where people are told; the log alone where none is configured.'),
  })
  .meta({ id: 'Readiness' });

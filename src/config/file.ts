import { z } from 'zod';
import { DEFAULT_POLICIES, type Policies } from '../domain/policies.ts';
import { alertsSchema } from './alerts.ts';
import { amount, duration, moment, network, oneOf, text, url } from './settings.ts';
import { sinksSchema } from './sinks.ts';

/** What is left to its webhook must be listed again: this is half of what every list goes back by. */
const MOST_MISSING_WEBHOOK_AFTER_MS = 30 * 60_000;

const policiesSchema = z
  .strictObject({
    late_capture: oneOf(['refund', 'review']).default(DEFAULT_POLICIES.lateCapture),
    dispute_lost: oneOf(['keep', 'revoke']).default(DEFAULT_POLICIES.disputeLost),
    order_wait: duration().default(DEFAULT_POLICIES.orderWaitMs),
    webhook_tolerance: duration().default(DEFAULT_POLICIES.webhookToleranceMs),
    missing_webhook_after: duration(MOST_MISSING_WEBHOOK_AFTER_MS).default(DEFAULT_POLICIES.missingWebhookAfterMs),
    idempotency_lease: duration().default(DEFAULT_POLICIES.idempotencyLeaseMs),
    idempotency_keep: duration().default(DEFAULT_POLICIES.idempotencyKeepMs),
    outbox_keep: duration().default(DEFAULT_POLICIES.outboxKeepMs),
    unknown_settle: duration().nullish(),
    loyalty_points_per_major_unit: amount().default(DEFAULT_POLICIES.loyaltyPointsPerMajorUnit),
    ignore_before: moment().nullish(),
  })
  .transform((policies): Policies => ({
    lateCapture: policies.late_capture,
    disputeLost: policies.dispute_lost,
    orderWaitMs: policies.order_wait,
    webhookToleranceMs: policies.webhook_tolerance,
    missingWebhookAfterMs: policies.missing_webhook_after,
    idempotencyLeaseMs: policies.idempotency_lease,
    idempotencyKeepMs: policies.idempotency_keep,
    outboxKeepMs: policies.outbox_keep,
    unknownSettleMs: policies.unknown_settle ?? DEFAULT_POLICIES.unknownSettleMs,
    loyaltyPointsPerMajorUnit: policies.loyalty_points_per_major_unit,
    ignoreBefore: policies.ignore_before ?? DEFAULT_POLICIES.ignoreBefore,
  }));

/** The file that PAIDONCE_CONFIG names, after its variables were filled in. Its sources are read one by one, by their kind. */
export const fileSchema = z.strictObject(
  {
    sources: z.array(z.unknown(), { error: 'must be a list' }).nullish(),
    policies: policiesSchema.nullish(),
    mail: z
      .strictObject({
        smtp_url: url(['smtp', 'smtps'], 'smtp://user:password@host:587').nullish(),
        from: text('the sender of receipts').nullish(),
      })
      .nullish(),
    outgoing: z
      .strictObject({ allow_networks: z.array(network(), { error: 'must be a list of networks' }).nullish() })
      .nullish(),
    sinks: sinksSchema.nullish(),
    alerts: alertsSchema.nullish(),
  },
  { error: 'must hold sources, policies, mail, outgoing, sinks and alerts' },
);

export type FileSettings = z.infer<typeof fileSchema>;

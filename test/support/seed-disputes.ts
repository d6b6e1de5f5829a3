import type { Pool } from 'pg';
import type { AppliedPayment } from '../../src/database/apply-payment.ts';
import type { DisputeStatus } from '../../src/domain/event-reading.ts';
import { facts, look, seedEvent } from './seed.ts';

/** The moment on which the times of seeded events count. */
export const FIRST = Date.UTC(2026, 10, 1);

export interface SeededDispute {
  readonly paymentId: string;
  readonly disputeId?: string;
  readonly orderId?: string | null;
  readonly status: DisputeStatus;
  readonly amount?: bigint | null;
  readonly currency?: string | null;
  readonly fee?: bigint | null;
  /** Minutes after `FIRST`; null where the gateway gives no time. */
  readonly minute?: number | null;
}

let events = 0;

/** The event of a gateway whose word is the truth about disputes, as the receiver stores it; not looked at yet. */
export async function tellDispute(pool: Pool, d: SeededDispute): Promise<string> {
  events += 1;
  const { paymentId, disputeId, status, minute = events, amount = 10_000n } = d;
  const id = `evt_dispute_${events}`;
  await seedEvent(pool, {
    ...{ id, paymentId, type: `dispute.${status}`, orderId: d.orderId ?? null, amount, fee: d.fee ?? null },
    ...(disputeId === undefined ? {} : { objectId: disputeId }),
    currency: d.currency === undefined ? 'EUR' : d.currency,
    at: minute === null ? null : FIRST + minute * 60_000,
  });
  return id;
}

/** The same, and the payment's look at it. */
export async function dispute(
  pool: Pool,
  d: SeededDispute,
  more: Parameters<typeof look>[2] = {},
): Promise<AppliedPayment> {
  await tellDispute(pool, d);
  return look(pool, facts({ paymentId: d.paymentId, orderId: d.orderId ?? null }), more);
}

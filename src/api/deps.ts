import type { Client } from '@temporalio/client';
import type { Pool } from '../database/pool.ts';
import type { AlertChannelName } from '../domain/plan-alerts.ts';
import type { Policies } from '../domain/policies.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Source } from '../gateways/admitted.ts';
import type { HandOvers } from './receive/hand-overs.ts';

/** What the audit found. */
export interface AuditReport {
  readonly ok: boolean;
  readonly checked: unknown;
  readonly violations: readonly unknown[];
}

/** Everything the API works with; made by server.ts, and by tests. */
export interface ApiDeps {
  readonly pool: Pool;
  readonly temporal: Client;
  readonly sources: ReadonlyMap<string, Source>;
  readonly policies: Policies;
  readonly handOvers: HandOvers;
  /** Tells the relays of all processes that the outbox has a new row; they find it by polling too. */
  readonly wakeRelays: () => void;
  readonly audit: () => Promise<AuditReport>;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Where people look at runs; null where nobody said. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
  /** Addresses of outgoing webhooks, and single webhooks for a person who waits. */
  readonly outgoing: {
    /** Why an address must not be called; null where it may. */
    refusalOf(url: string): Promise<string | null>;
    sendOnce(
      target: { readonly url: string; readonly secrets: readonly string[] },
      message: { readonly id: string; readonly body: string },
    ): Promise<{ readonly status: number | null; readonly body: string | null; readonly error: string | null }>;
  };
  /** Whether receipts can be sent. */
  readonly mailConfigured: boolean;
  /** Where people are told that something waits for them. */
  readonly alertChannels: readonly AlertChannelName[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

import type { Mode } from './gateway-facts.ts';

/** One secret of a source; two overlap while a secret is changed. */
export interface WebhookSecret {
  readonly secret: string;
  /** Holds only for events whose own time lies before this moment (milliseconds since the epoch); null: for all. */
  readonly eventsBefore: number | null;
}

/** Calls that a gateway of the `standard` protocol may have beside it (docs/gateways.md). */
export const STANDARD_EXTENSIONS = ['capture', 'void'] as const;
export type StandardExtension = (typeof STANDARD_EXTENSIONS)[number];

/** One configured account of one gateway in one mode. */
export interface SourceConfig {
  /** `[a-z0-9-]{1,32}`; appears in URLs and in every identity (A8). */
  readonly name: string;
  readonly kind: 'stripe' | 'razorpay' | 'standard';
  readonly mode: Mode;
  /** The gateway's API; null: the gateway's public one. */
  readonly apiBase: string | null;
  /** razorpay: `key_id:key_secret`. */
  readonly apiKey: string;
  /** razorpay: the account that payouts are paid from. */
  readonly accountNumber: string | null;
  /** standard: the calls beyond the protocol that this gateway knows; none if left out. */
  readonly extensions?: readonly StandardExtension[];
  readonly webhookSecrets: readonly WebhookSecret[];
}

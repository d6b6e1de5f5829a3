import { createHmac } from 'node:crypto';
import type { WebhookToVerify } from '../../src/gateways/gateway.ts';

export const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ....').toString('base64')}`;
export const OTHER_SECRET = `whsec_${Buffer.from('another secret, thirty-two bytes').toString('base64')}`;

interface Signing {
  readonly id?: string;
  readonly secret?: string;
  /** When it is signed, milliseconds since the epoch. */
  readonly at: number;
  /** The clock that it is verified by; the same without. */
  readonly now?: number;
}

/** A webhook signed over its bytes as the Standard Webhooks document says, written apart from the code under test. */
export function signedWebhook(
  body: Uint8Array | string,
  { id = 'evt_1', secret = WEBHOOK_SECRET, at, now = at }: Signing,
): WebhookToVerify {
  const bytes = Buffer.from(body);
  const seconds = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.`).update(bytes).digest('base64');
  return {
    body: bytes,
    headers: { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` },
    now,
  };
}

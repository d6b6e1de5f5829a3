import { createHmac } from 'node:crypto';

/** A webhook as a sender of Standard Webhooks sends it. */
export interface SignedWebhook {
  readonly method: 'POST';
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Signs the bytes as they are; `id` and `at` (milliseconds) go into the signature. */
export function signedWebhook(
  secret: string,
  body: string | Uint8Array | object,
  { id, at = Date.now() }: { id: string; at?: number },
): SignedWebhook {
  const bytes =
    body instanceof Uint8Array
      ? Buffer.from(body)
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(bytes).digest('base64');
  return {
    method: 'POST',
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
    body: new Uint8Array(bytes),
  };
}

import { Webhook } from 'standardwebhooks';
import { AddressNotAllowed, type AddressGuard, pinnedLookup, type ResolvedAddress } from './address-guard.ts';
import { DeliveryError } from './delivery-error.ts';
import { postJson, type PostAnswer } from './post-json.ts';

/** Where a signed webhook goes, and what it is signed with. */
export interface WebhookTarget {
  readonly url: string;
  /** All that hold now: one, or two while a rotation is under way. */
  readonly secrets: readonly string[];
}

export interface WebhookMessage {
  /** `webhook-id`: the same in every try. */
  readonly id: string;
  /** JSON text, the same in every try. */
  readonly body: string;
}

export interface SendOptions {
  readonly guard: AddressGuard;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Sends one webhook as Standard Webhooks asks, once: signed at the time of this try with every secret that holds, to exactly
 * the address that was checked.
 *
 * @returns whatever was answered
 * @throws DeliveryError where no answer came, or the address must not be called
 */
export async function sendWebhook(
  target: WebhookTarget,
  { id, body }: WebhookMessage,
  { guard, timeoutMs, signal, now = Date.now }: SendOptions,
): Promise<PostAnswer> {
  const addresses = await addressesOf(target.url, guard);
  // The header carries whole seconds, and they are what is signed.
  const at = new Date(Math.floor(now() / 1000) * 1000);
  return postJson({
    name: 'The endpoint',
    url: target.url,
    body,
    headers: {
      'user-agent': 'paidonce',
      'webhook-id': id,
      'webhook-timestamp': String(at.getTime() / 1000),
      'webhook-signature': target.secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
    },
    timeoutMs,
    ...(signal === undefined ? {} : { signal }),
    lookup: pinnedLookup(addresses),
  });
}

async function addressesOf(url: string, guard: AddressGuard): Promise<readonly ResolvedAddress[]> {
  try {
    return await guard.resolve(url);
  } catch (cause) {
    if (cause instanceof AddressNotAllowed) throw new DeliveryError(cause.message, { cause });
    const code = (cause as { code?: unknown }).code;
    throw new DeliveryError(
      `The endpoint's name could not be resolved (${typeof code === 'string' ? code : 'no reason given'}).`,
      { cause },
    );
  }
}

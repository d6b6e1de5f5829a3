import { AddressNotAllowed, type AddressGuard } from './address-guard.ts';
import { DeliveryError } from './delivery-error.ts';
import { sendWebhook, type WebhookMessage, type WebhookTarget } from './send-webhook.ts';

/** What the API itself does with endpoints: it checks an address, and sends one event for a person who waits. */
export interface Outgoing {
  /** Why an address must not be called; null where it may. */
  refusalOf(url: string): Promise<string | null>;
  /** Sends once, whatever comes of it. */
  sendOnce(
    target: WebhookTarget,
    message: WebhookMessage,
  ): Promise<{ readonly status: number | null; readonly body: string | null; readonly error: string | null }>;
}

/** A person waits for it: less than the delivery's own time. */
const TIMEOUT_MS = 10_000;

export function createOutgoing(guard: AddressGuard): Outgoing {
  return {
    async refusalOf(url) {
      try {
        await guard.resolve(url);
        return null;
      } catch (error) {
        if (error instanceof AddressNotAllowed) return error.message;
        return `${new URL(url).hostname} cannot be resolved.`;
      }
    },
    async sendOnce(target, message) {
      try {
        const { status, body } = await sendWebhook(target, message, { guard, timeoutMs: TIMEOUT_MS });
        return { status, body, error: null };
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error;
        return { status: null, body: null, error: error.message };
      }
    },
  };
}

import type { AddressGuard } from '../address-guard.ts';
import type { Consumer } from '../consumer.ts';
import { createWebhookConsumer, type WebhookEndpoint } from './webhook.ts';

export interface ConsumerSettings {
  readonly guard: AddressGuard;
  readonly readEndpoint: (id: string) => Promise<WebhookEndpoint | null>;
}

/** Everybody who is told of announced events: add yours here. */
export function createConsumers({ guard, readEndpoint }: ConsumerSettings): readonly Consumer[] {
  return [createWebhookConsumer({ guard, readEndpoint })];
}

/** The types that these consumers want, for the relay. */
export function typesOf(consumers: readonly Consumer[]): ReadonlySet<string> {
  return new Set(consumers.flatMap(({ types }) => types));
}

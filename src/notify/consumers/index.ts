import type { AddressGuard } from '../address-guard.ts';
import type { Consumer } from '../consumer.ts';
import type { Mailer } from '../mail/create-mailer.ts';
import { createHttpSink, type HttpSinkSettings } from './http-sink.ts';
import { createReceiptConsumer } from './receipt.ts';
import { createWebhookConsumer, type WebhookEndpoint } from './webhook.ts';

export interface ConsumerSettings {
  readonly guard: AddressGuard;
  /** Null: no receipts are sent. */
  readonly mailer: Mailer | null;
  readonly sinks: readonly HttpSinkSettings[];
  readonly readEndpoint: (id: string) => Promise<WebhookEndpoint | null>;
}

/** Everybody who is told of announced events: add yours here. */
export function createConsumers({ guard, mailer, sinks, readEndpoint }: ConsumerSettings): readonly Consumer[] {
  return [
    createWebhookConsumer({ guard, readEndpoint }),
    ...(mailer === null ? [] : [createReceiptConsumer({ mailer })]),
    ...sinks.map(createHttpSink),
  ];
}

/** The types that these consumers want, for the relay. */
export function typesOf(consumers: readonly Consumer[]): ReadonlySet<string> {
  return new Set(consumers.flatMap(({ types }) => types));
}

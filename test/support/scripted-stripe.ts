import { afterEach, expect } from 'vitest';
import { GatewayError } from '../../src/domain/gateway-error.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createStripeGateway } from '../../src/gateways/stripe/create-stripe-gateway.ts';
import { sendJson, startScriptedServer, type Script, type ScriptedServer } from './scripted-server.ts';

const servers: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

export interface ScriptedStripe {
  readonly gateway: Gateway;
  readonly requests: ScriptedServer['requests'];
  readonly url: string;
}

/** A Stripe adapter named `shop` before a server that answers as the test says; closed after the test. */
export async function stripeThat(script: Script, timeoutMs?: number): Promise<ScriptedStripe> {
  const { url, requests, close } = await startScriptedServer(script);
  servers.push({ url, requests, close });
  return { gateway: stripeAt(url, timeoutMs), requests, url };
}

export function stripeAt(apiBase: string, timeoutMs = 500): Gateway {
  const config = { name: 'shop', kind: 'stripe', mode: 'test', accountNumber: null, webhookSecrets: [] } as const;
  return createStripeGateway({ ...config, apiBase, apiKey: 'sk_test_x' }, { toleranceMs: 300_000, timeoutMs });
}

/** The `GatewayError` that the call has to end in; its message is a sentence that names the source. */
export async function failureOf(call: Promise<unknown>): Promise<GatewayError> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayError);
  expect((error as GatewayError).message).toMatch(/^shop .*\.$/);
  return error as GatewayError;
}

/** An answer as Stripe refuses. */
export function refusal(status: number, error: object, headers: Record<string, string> = {}): Script {
  return (_request, response) => sendJson(response, status, { error }, headers);
}

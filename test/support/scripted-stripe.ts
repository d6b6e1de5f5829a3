import { expect } from 'vitest';
import type { GatewayError } from '../../src/domain/gateway-error.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { failureOf, gatewayAt, gatewayThat, type ScriptedGateway } from './scripted-gateway.ts';
import { sendJson, type Script } from './scripted-server.ts';

const SHOP = { name: 'shop', kind: 'stripe', apiKey: 'sk_test_x' } as const;

/** A Stripe adapter named `shop` before a server that answers as the test says; closed after the test. */
export function stripeThat(script: Script, timeoutMs = 500): Promise<ScriptedGateway> {
  return gatewayThat(SHOP, script, timeoutMs);
}

export function stripeAt(apiBase: string, timeoutMs = 500): Gateway {
  return gatewayAt(apiBase, SHOP, timeoutMs);
}

/** The `GatewayError` that the call has to end in; its message is a sentence that names the source. */
export async function shopFailureOf(call: Promise<unknown>): Promise<GatewayError> {
  const error = await failureOf(call);
  expect(error.message).toMatch(/^shop .*\.$/);
  return error;
}

/** An answer as Stripe refuses. */
export function refusal(status: number, error: object, headers: Record<string, string> = {}): Script {
  return (_request, response) => sendJson(response, status, { error }, headers);
}

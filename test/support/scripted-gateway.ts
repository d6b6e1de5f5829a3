import { afterEach, expect } from 'vitest';
import { GatewayError } from '../../src/domain/gateway-error.ts';
import type { SourceConfig } from '../../src/domain/source-config.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createRazorpayGateway } from '../../src/gateways/razorpay/create-razorpay-gateway.ts';
import { createStandardGateway } from '../../src/gateways/standard/create-standard-gateway.ts';
import { createStripeGateway } from '../../src/gateways/stripe/create-stripe-gateway.ts';
import { sendJson, startScriptedServer, type Script, type ScriptedServer } from './scripted-server.ts';

/** For what asks "since when": nothing is too old to be looked for. */
export const SINCE = new Date(0);

const ADAPTERS = { razorpay: createRazorpayGateway, standard: createStandardGateway, stripe: createStripeGateway };
const ACCOUNT = { mode: 'test', apiKey: 'id:secret', accountNumber: null, webhookSecrets: [] } as const;

const servers: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

export interface ScriptedGateway {
  readonly gateway: Gateway;
  readonly requests: ScriptedServer['requests'];
  readonly url: string;
}

/**
 * An adapter before a server that answers as the test says; closed after the test.
 *
 * @param timeoutMs so long that every answer comes, however busy the machine is
 */
export async function gatewayThat(
  config: Pick<SourceConfig, 'kind' | 'name'> & Partial<SourceConfig>,
  script: Script,
  timeoutMs = 10_000,
): Promise<ScriptedGateway> {
  const server = await startScriptedServer(script);
  servers.push(server);
  return { gateway: gatewayAt(server.url, config, timeoutMs), requests: server.requests, url: server.url };
}

/** An adapter of a server that need not be there. */
export function gatewayAt(
  apiBase: string,
  config: Pick<SourceConfig, 'kind' | 'name'> & Partial<SourceConfig>,
  timeoutMs: number,
): Gateway {
  return ADAPTERS[config.kind]({ ...ACCOUNT, ...config, apiBase }, { toleranceMs: 300_000, timeoutMs });
}

/** Always the same answer. */
export function answering(body: unknown, status = 200): Script {
  return (_request, response) => sendJson(response, status, body);
}

/** The `GatewayError` that the call has to end in. */
export async function failureOf(call: Promise<unknown>): Promise<GatewayError> {
  const error: unknown = await call.then(
    (answer) => answer,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayError);
  return error as GatewayError;
}

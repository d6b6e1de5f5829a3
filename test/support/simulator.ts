import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStandardGateway } from '../../src/gateways/standard/create-standard-gateway.ts';
import { startProcess, type SimSettings, type TestProcess } from './processes.ts';

/** The simulator as a real process, without a server or a database beside it. */
export async function startSimulatorProcess(
  sim: SimSettings,
  { webhookUrl = 'http://127.0.0.1:2/nobody', stateFile = 'none' }: { webhookUrl?: string; stateFile?: string } = {},
): Promise<TestProcess> {
  return startProcess('simulator', {
    databaseUrl: 'postgres://nobody@127.0.0.1:2/none',
    temporal: { address: '127.0.0.1:2', namespace: 'none' },
    sim,
    webhookUrl,
    env: { SIMULATOR_STATE_FILE: stateFile },
  });
}

/** The adapter that talks to a simulator. */
export function adapterOf(sim: SimSettings, timeoutMs = 5_000) {
  return createStandardGateway(
    {
      name: 'sim',
      kind: 'standard',
      mode: 'test',
      apiBase: sim.url,
      apiKey: sim.apiKey,
      accountNumber: null,
      webhookSecrets: [{ secret: sim.webhookSecret, eventsBefore: null }],
    },
    { timeoutMs, toleranceMs: 300_000 },
  );
}

/** A control of the simulator's; throws where it is refused. */
export async function control<T = Record<string, unknown>>(
  sim: SimSettings,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`${sim.url}/sim${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} /sim${path}: ${String(response.status)} ${text}`);
  return JSON.parse(text) as T;
}

export interface Received {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A webhook receiver; `answer` says with which status, and may take its time. Only what verifies is received. */
export async function startReceiver(
  sim: SimSettings,
  answer: (webhook: Received) => number | Promise<number> = () => 200,
) {
  const adapter = adapterOf(sim);
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      adapter.verify({ body, headers: request.headers, now: Date.now() });
      const { type, data } = JSON.parse(body.toString()) as Received;
      const webhook = { id: String(request.headers['webhook-id']), type, data, body: body.toString() };
      received.push(webhook);
      void Promise.resolve(answer(webhook)).then((status) => response.writeHead(status).end());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/webhooks/sim`,
    received,
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

import { afterEach, expect, it } from 'vitest';
import { startMetricsListener, type MetricsListener } from '../../src/telemetry/metrics-listener.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

let listener: MetricsListener | undefined;
afterEach(() => listener?.close());

it('a process without an API shows its counts and that it lives, and nothing else', async () => {
  const metrics = createMetrics();
  metrics.alertsFailed.inc({ channel: 'slack' });
  listener = await startMetricsListener({ registry: metrics.registry, host: '127.0.0.1', port: 0 });
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${String(listener?.port)}${path}`, init);
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  expect(await ask('/metrics')).toMatchObject({
    status: 200,
    type: metrics.registry.contentType,
    text: expect.stringContaining('paidonce_alerts_failed_total{channel="slack"} 1'),
  });
  expect(await ask('/healthz?x')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  expect((await ask('/')).status).toBe(404);
  expect((await ask('/metrics', { method: 'POST' })).status).toBe(405);
});

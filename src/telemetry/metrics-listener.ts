import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Shows a process's counts where it has no API: `/metrics` for Prometheus, `/healthz` for whoever restarts it. */
export async function startMetricsListener(options: {
  readonly registry: Registry;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}): Promise<MetricsListener> {
  const { registry, host, port } = options;
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    };
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, 'text/plain', 'GET only\n');
    else if (path === '/healthz') answer(200, 'application/json', '{"status":"ok"}');
    else if (path === '/metrics') {
      registry.metrics().then(
        (text) => answer(200, registry.contentType, text),
        () => answer(500, 'text/plain', 'the counts cannot be written\n'),
      );
    } else answer(404, 'text/plain', 'see /metrics and /healthz\n');
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

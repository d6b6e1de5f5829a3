import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * - `forward`: passes everything on.
 * - `cut_answer`: the request arrives, and the connection breaks when the answer is about to come.
 * - `half_answer`: the answer breaks off in its middle.
 * - `swallow_answer`: the request arrives, and the answer never comes.
 */
export type ProxyMode = 'forward' | 'cut_answer' | 'half_answer' | 'swallow_answer';

export interface CuttingProxy {
  readonly url: string;
  mode: ProxyMode;
  close(): Promise<void>;
}

/** A TCP proxy on 127.0.0.1 in front of `upstreamUrl` that loses answers: the work is done, and its caller never learns it. */
export async function startCuttingProxy(upstreamUrl: string): Promise<CuttingProxy> {
  const upstream = new URL(upstreamUrl);
  const sockets = new Set<Socket>();
  const proxy: CuttingProxy = {
    url: '',
    mode: 'forward',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  const server = createServer((caller) => {
    const gateway = connect(Number(upstream.port), upstream.hostname);
    for (const socket of [caller, gateway]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // Broken connections are what this proxy is for.
      socket.on('error', () => socket.destroy());
    }
    caller.pipe(gateway);
    gateway.on('data', (chunk) => {
      if (proxy.mode === 'forward') caller.write(chunk);
      if (proxy.mode === 'cut_answer') caller.resetAndDestroy();
      if (proxy.mode === 'half_answer') caller.write(chunk.subarray(0, chunk.length - 10), () => caller.destroy());
    });
    gateway.on('end', () => {
      if (proxy.mode === 'forward') caller.end();
    });
    caller.on('close', () => gateway.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return Object.assign(proxy, { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` });
}

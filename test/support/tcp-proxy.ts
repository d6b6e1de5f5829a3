import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A way to a service that can be cut and slowed down. */
export interface TcpProxy {
  readonly port: number;
  /** host:port */
  readonly address: string;
  /** What is on its way arrives this many milliseconds late, in both directions. */
  delayMs: number;
  /** Breaks every connection and lets no new one through. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

/** A TCP proxy on 127.0.0.1 in front of several `host:port`, which take turns; one that does not answer is passed over. */
export async function startTcpProxy(targets: readonly string[]): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let open = true;
  let turn = 0;

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Broken connections are what this proxy is for.
    socket.on('error', () => socket.destroy());
  }

  function breakAll(): void {
    for (const socket of sockets) socket.resetAndDestroy();
  }

  async function pass(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      if (proxy.delayMs > 0) await delay(proxy.delayMs);
      if (!to.writable) return;
      to.write(chunk);
    }
    to.end();
  }

  async function serve(caller: Socket): Promise<void> {
    const target = await reachable();
    if (target === null || !open) {
      target?.destroy();
      caller.resetAndDestroy();
      return;
    }
    keep(target);
    caller.on('close', () => target.destroy());
    target.on('close', () => caller.destroy());
    await Promise.allSettled([pass(caller, target), pass(target, caller)]);
  }

  async function reachable(): Promise<Socket | null> {
    for (let tried = 0; tried < targets.length; tried += 1) {
      const target = targets[turn++ % targets.length] ?? '';
      const socket = await connected(target);
      if (socket !== null) return socket;
    }
    return null;
  }

  const server = createServer((caller) => {
    keep(caller);
    if (open) void serve(caller);
    else caller.resetAndDestroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: TcpProxy = {
    port,
    address: `127.0.0.1:${port}`,
    delayMs: 0,
    cut() {
      open = false;
      breakAll();
    },
    restore() {
      open = true;
    },
    async close() {
      open = false;
      const closed = new Promise((resolve) => server.close(resolve));
      breakAll();
      await closed;
    },
  };
  return proxy;
}

async function connected(target: string): Promise<Socket | null> {
  const { hostname, port } = new URL(`tcp://${target}`);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}

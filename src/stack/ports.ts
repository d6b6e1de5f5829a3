import { connect, createServer } from 'node:net';

// Below 32768 lie no ports that Linux or macOS hand to outgoing connections, so that a process which is restarted later
// finds its port still free; above 10240 lie few that services are known by.
const LOWEST = 10_240;
const HIGHEST = 32_767;
// Enough for any machine that is not full: at 90 % taken, 200 draws still miss with less than one in a thousand million.
const DRAWS = 200;

/** Whether nothing listens on this port of 127.0.0.1 and we may listen there. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => {
      resolve(false);
    });
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      probe.close(() => {
        resolve(true);
      });
    });
  });
}

/** Whether something on 127.0.0.1 takes connections on this port. */
export async function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => {
      resolve(false);
    });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** So many different ports of 127.0.0.1 that are free now and that no outgoing connection will take by chance. */
export async function freePorts(count: number, taken: readonly number[] = []): Promise<number[]> {
  const found: number[] = [];
  for (let draw = 0; found.length < count; draw += 1) {
    if (draw === DRAWS * count)
      throw new Error(`no ${String(count)} free ports between ${String(LOWEST)} and ${String(HIGHEST)}`);
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1));
    if (!found.includes(port) && !taken.includes(port) && (await isPortFree(port))) found.push(port);
  }
  return found;
}

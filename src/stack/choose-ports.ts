import { freePorts, isPortFree } from './ports.ts';
import { StartError } from './start-error.ts';

/** The variables that name ports, and the port where they are not set. */
const DEFAULTS = {
  PORT: 8080,
  SIMULATOR_PORT: 8090,
  TEMPORAL_PORT: 7233,
  TEMPORAL_UI_PORT: 8233,
  // Not 5432: a PostgreSQL of the system's own listens there as often as not.
  PGPORT: 5433,
  // Any free one: nobody but a scraper asks there, and .paidonce/dev.json tells it where.
  WORKER_METRICS_PORT: 0,
} as const;

export type PortVariable = keyof typeof DEFAULTS;
export type Ports = Readonly<Record<PortVariable, number>>;

/**
 * The port of each variable that is needed, free now: the one it names, or any free one for 0. Chosen once, so that what
 * is restarted listens where it did. Variables that are not needed get 0. Throws a StartError that names port and variable.
 */
export async function choosePorts(env: NodeJS.ProcessEnv, needed: readonly PortVariable[]): Promise<Ports> {
  const ports: Record<PortVariable, number> = {
    PORT: 0,
    SIMULATOR_PORT: 0,
    TEMPORAL_PORT: 0,
    TEMPORAL_UI_PORT: 0,
    PGPORT: 0,
    WORKER_METRICS_PORT: 0,
  };
  const named = new Map<number, PortVariable>();
  for (const variable of needed) {
    const port = parsePort(variable, env[variable]);
    if (port === 0) continue;
    const other = named.get(port);
    if (other !== undefined) {
      throw new StartError(
        `${other} and ${variable} both name port ${String(port)}: give one of them another port, or 0 for any free one.`,
      );
    }
    if (!(await isPortFree(port))) {
      throw new StartError(
        `Port ${String(port)} (${variable}) is taken: stop what listens there, or set ${variable} to another port, or to 0 for any free one.`,
      );
    }
    named.set(port, variable);
    ports[variable] = port;
  }
  const open = needed.filter((variable) => ports[variable] === 0);
  const free = await freePorts(open.length, [...named.keys()]);
  for (const [index, variable] of open.entries()) ports[variable] = free[index] ?? 0;
  return ports;
}

function parsePort(variable: PortVariable, value: string | undefined): number {
  if (value === undefined || value === '') return DEFAULTS[variable];
  const port = Number(value);
  if (/^\d+$/.test(value) && port <= 65_535) return port;
  throw new StartError(
    `${variable} is "${value}", which is no port: set it to a number from 1 to 65535, or to 0 for any free one.`,
  );
}

/**
 * The gateway simulator as a process of its own; src/gateways/simulator/start-simulator.ts says what it can do.
 *
 * SIMULATOR_PORT (8090; 0: any free one), PAIDONCE_SIM_API_KEY, PAIDONCE_SIM_WEBHOOK_SECRET, PAIDONCE_WEBHOOK_URL, and
 * if wanted SIMULATOR_SEED (1) and SIMULATOR_STATE_FILE (.paidonce/simulator.json; `none` keeps nothing).
 */
import { Webhook } from 'standardwebhooks';
import { SHUTDOWN_TIMES } from './src/domain/shutdown-times.ts';
import { startSimulator, type SimulatorOptions } from './src/gateways/simulator/start-simulator.ts';

function readOptions(env: NodeJS.ProcessEnv): SimulatorOptions {
  const mistakes: string[] = [];

  function text(name: string): string {
    const value = env[name] ?? '';
    if (value === '') mistakes.push(`${name} is not set`);
    return value;
  }

  function integer(name: string, otherwise: number, most: number): number {
    const value = env[name] ?? '';
    if (value === '') return otherwise;
    if (/^\d{1,16}$/.test(value) && Number(value) <= most) return Number(value);
    mistakes.push(`${name} is not a whole number from 0 to ${most}`);
    return otherwise;
  }

  const webhookSecret = text('PAIDONCE_SIM_WEBHOOK_SECRET');
  const webhookUrl = text('PAIDONCE_WEBHOOK_URL');
  if (webhookSecret !== '' && !isSecret(webhookSecret))
    mistakes.push('PAIDONCE_SIM_WEBHOOK_SECRET is not whsec_ and base64');
  if (webhookUrl !== '' && !(/^https?:/.test(webhookUrl) && URL.canParse(webhookUrl))) {
    mistakes.push('PAIDONCE_WEBHOOK_URL is not a web address');
  }
  const stateFile = env['SIMULATOR_STATE_FILE'] ?? '.paidonce/simulator.json';
  const options = {
    port: integer('SIMULATOR_PORT', 8090, 65_535),
    apiKey: text('PAIDONCE_SIM_API_KEY'),
    webhookSecret,
    webhookUrl,
    seed: integer('SIMULATOR_SEED', 1, Number.MAX_SAFE_INTEGER),
    stateFile: stateFile === 'none' || stateFile === '' ? null : stateFile,
  };
  if (mistakes.length > 0) throw new Error(mistakes.join('; '));
  return options;
}

function isSecret(secret: string): boolean {
  try {
    return secret.startsWith('whsec_') && new Webhook(secret) instanceof Webhook;
  } catch {
    return false;
  }
}

function log(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), name: 'simulator', ...line })}\n`);
}

async function main(): Promise<void> {
  const options = readOptions(process.env);
  const simulator = await startSimulator(options);
  log({
    msg: 'listening',
    url: simulator.url,
    webhook_url: options.webhookUrl,
    seed: options.seed,
    state_file: options.stateFile,
  });

  function stop(signal: string): void {
    log({ msg: 'stopping', signal });
    setTimeout(() => process.exit(1), SHUTDOWN_TIMES.simulator.lastResort).unref();
    // Not left to run out: a call that is being slow on purpose may have a long while to go.
    void simulator.close().then(() => process.exit(0));
  }
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.send?.({ ready: true, port: simulator.port });
}

try {
  await main();
} catch (error) {
  log({ msg: 'cannot start', error: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { StormArrival } from '../../database/read-storm.ts';
import { CommandError } from '../command-error.ts';
import type { Outcome } from './expect-storm.ts';
import type { Storm } from './plan-storm.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SERVER = fileURLToPath(new URL('../../../examples/naive/server.ts', import.meta.url));

/** Pauses of the storm in which nothing came in are cut to this; what came together still comes together. */
const LONGEST_PAUSE_MS = 200;
const READY_MS = 30_000;
const STOP_MS = 5_000;
const SIGNED_HEADERS = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];

interface NaiveReport {
  readonly orders_paid: number;
  readonly enrolments: number;
  readonly loyalty_points: number;
  readonly gift_cards: number;
  readonly packages: number;
  readonly receipts: number;
}

/**
 * Feeds the naive handler with what came in during the storm: the same orders and the same webhooks, byte for byte, in
 * the same order and as close together. Refunds are left out, since it never asks for any.
 *
 * @returns null where the example was not installed along
 */
export async function runNaive(
  storm: Storm,
  arrivals: readonly StormArrival[],
  settings: { readonly databaseUrl: string; readonly webhookSecret: string },
  onProgress: (done: number) => void,
): Promise<Outcome | null> {
  if (!existsSync(SERVER)) return null;
  const child = spawn(process.execPath, ['--import', 'tsx', SERVER], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: settings.databaseUrl, WEBHOOK_SECRET: settings.webhookSecret },
    // What it warns of is part of the example, and of no interest here.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  try {
    const url = await addressOf(child);
    await replay(storm, arrivals, url, onProgress);
    const report = (await (await fetch(`${url}/report`)).json()) as NaiveReport;
    return outcomeOf(storm, report);
  } finally {
    await end(child);
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  const ready = once(child, 'message').then(([message]) => (message as { port: number }).port);
  const ended = once(child, 'exit').then(() => null);
  const port = await Promise.race([ready, ended, delay(READY_MS, null, { ref: false })]);
  if (port === null)
    throw new CommandError('The naive handler did not start: node --import tsx examples/naive/server.ts says why.');
  return `http://127.0.0.1:${port}`;
}

async function replay(
  storm: Storm,
  arrivals: readonly StormArrival[],
  url: string,
  onProgress: (done: number) => void,
): Promise<void> {
  const orders = new Map(storm.orders.map(({ id, order }) => [id, order]));
  // The shop had its order before its customer paid, however slow this machine is now.
  const made = new Map<string | null, Promise<void>>();
  const underWay: Promise<void>[] = [];
  let failure: Error | null = null;
  const began = performance.now();
  let offset = 0;
  let done = 0;
  let before = arrivals[0]?.at.getTime() ?? 0;
  for (const arrival of arrivals) {
    offset += Math.min(LONGEST_PAUSE_MS, arrival.at.getTime() - before);
    before = arrival.at.getTime();
    const wait = offset - (performance.now() - began);
    if (wait > 0) await delay(wait);
    const sent =
      arrival.what === 'order'
        ? post(`${url}/orders`, { 'content-type': 'application/json' }, JSON.stringify(orders.get(arrival.orderId)))
        : Promise.resolve(made.get(arrival.orderId)).then(() =>
            post(`${url}/webhooks`, signedHeaders(arrival.headers), new Uint8Array(arrival.body)),
          );
    if (arrival.what === 'order') made.set(arrival.orderId, sent);
    underWay.push(
      sent.then(
        () => {
          done += 1;
          onProgress(done);
        },
        (error: Error) => {
          failure ??= error;
        },
      ),
    );
  }
  await Promise.all(underWay);
  if (failure !== null) throw new CommandError(`it broke down (${(failure as Error).message}).`);
}

function signedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(SIGNED_HEADERS.map((name) => [name, headers[name] ?? '']));
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.arrayBuffer();
}

/** It finds no second payment, and so gives none back. */
function outcomeOf(storm: Storm, report: NaiveReport): Outcome {
  return {
    ordersPaid: report.orders_paid,
    ordersNotPaid: storm.orders.length - report.orders_paid,
    enrolments: report.enrolments,
    loyaltyPoints: report.loyalty_points,
    giftCards: report.gift_cards,
    packages: report.packages,
    receipts: report.receipts,
    secondPaymentsFound: 0,
    refunds: 0,
    refundedAmount: 0,
    chargedTwice: storm.orders.filter(({ fate }) => fate === 'paid_twice').length,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await Promise.race([exited, delay(STOP_MS, undefined, { ref: false })]);
  child.kill('SIGKILL');
}

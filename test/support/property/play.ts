import { setTimeout as delay } from 'node:timers/promises';
import { paymentEventSignal } from '../../../src/workflows/messages.ts';
import { paymentStartOptions } from '../../../src/relay/start-options.ts';
import { paymentEvent, type Answer, type System } from '../system.ts';
import { OPEN_ORDERS, PAID_ORDERS, type Command, type Intent, type Sending } from './commands.ts';
import { orderName, paymentName, requestOf } from './intents.ts';

const AMOUNT = 10_000;
/** Always: no key helps, webhooks come several times, in any order, and their answers get lost. */
const ALWAYS = { forget_keys: 1, repeat: 0.3, reorder: { chance: 0.3, ms: [50, 800] }, lose_ack: 0.2 };
/** What is begun at once is not begun in the very same instant. */
const APART_MS = 20;

/** An intent that was asked for, and every answer that somebody heard. */
export interface Asked {
  readonly intent: Intent;
  readonly key: string;
  /** By whether it was the other body. */
  readonly heard: { readonly other: boolean; readonly answer: Answer }[];
  readonly sent: Set<boolean>;
}

/** Three orders that are paid and three that are not; no faults yet. */
export async function setUp(system: System, run: string): Promise<void> {
  // Only this run's objects are there to be counted.
  await system.control('POST', '/reset');
  await system.control('PUT', '/faults', { forget_keys: 1 });
  await Promise.all(
    Array.from({ length: PAID_ORDERS + OPEN_ORDERS }, async (_, n) => {
      await system.order({ id: orderName(run, n), amount: AMOUNT });
      if (n >= PAID_ORDERS) return;
      await system.pay(paymentName(run, n), orderName(run, n), { amount: AMOUNT });
      await system.deliver(paymentEvent(paymentName(run, n), orderName(run, n)), { id: `evt_${run}_${n}` });
      await system.orderIs(orderName(run, n), { status: 'paid' });
    }),
  );
}

/** Carries the commands out against the real processes, and answers what was asked for and what came back. */
export async function play(system: System, run: string, commands: readonly Command[]): Promise<Asked[]> {
  const asked: Asked[] = [];
  const underWay: Promise<unknown>[] = [];
  const dying = new Set<unknown>();
  let drawn = 0;

  async function send(one: Asked, other: boolean, { server, goneMs }: Sending): Promise<void> {
    one.sent.add(other);
    const { path, body } = requestOf(run, one.intent, other);
    const signal = goneMs === null ? {} : { signal: AbortSignal.timeout(goneMs) };
    const answer = await system.call('POST', path, { key: one.key, body, server, ...signal }).catch(() => null);
    if (answer !== null) one.heard.push({ other, answer });
  }

  async function kill(which: 'worker' | 0 | 1): Promise<void> {
    const victim = which === 'worker' ? system.worker : system.servers[which];
    // One that is just being replaced cannot be killed a second time.
    if (victim === undefined || dying.has(victim)) return;
    dying.add(victim);
    await victim.kill('SIGKILL');
    await victim.restart();
    dying.delete(victim);
  }

  async function carryOut(command: Command): Promise<void> {
    switch (command.do) {
      case 'ask': {
        const one = { intent: command.intent, key: `key_${run}_${asked.length}`, heard: [], sent: new Set<boolean>() };
        asked.push(one);
        return send(one, false, command);
      }
      case 'repeat': {
        const one = asked[command.of % Math.max(1, asked.length)];
        return one === undefined ? undefined : send(one, command.other, command);
      }
      case 'cancel':
        await system.call('POST', `/v1/orders/${orderName(run, command.order)}/cancel`).catch(() => null);
        return;
      case 'confirm':
        await system.call('POST', `/v1/payments/sim/${paymentName(run, command.order)}/confirm`).catch(() => null);
        return;
      case 'pay': {
        const payment = {
          payment_id: `${paymentName(run, command.order)}_${(drawn += 1)}`,
          amount: AMOUNT,
          currency: 'EUR',
        };
        return system.control('POST', '/payments', {
          ...{ ...payment, order_id: orderName(run, command.order), times: command.times },
        });
      }
      case 'webhook': {
        const body = paymentEvent(paymentName(run, command.order), orderName(run, command.order), {
          type: command.type,
        });
        const id = `evt_${run}_again_${command.order}_${command.type}`;
        // Of a payment that the gateway does not have nobody speaks.
        if (command.order >= PAID_ORDERS) return;
        await Promise.all(Array.from({ length: command.times }, () => system.deliver(body, { id }).catch(() => null)));
        return;
      }
      case 'storm': {
        const options = paymentStartOptions('sim', paymentName(run, command.order % PAID_ORDERS), null);
        const client = system.temporal.client.workflow;
        const signal = { signal: paymentEventSignal, signalArgs: ['evt_of_nobody'] as [string] };
        await Promise.all(
          Array.from({ length: command.signals }, () =>
            client.signalWithStart('processPayment', { ...options, ...signal }).catch(() => null),
          ),
        );
        return;
      }
      case 'faults':
        return system.control('PUT', '/faults', { ...ALWAYS, ...command.faults });
      case 'kill':
        return kill(command.which);
    }
  }

  for (const command of commands) {
    const over = carryOut(command);
    underWay.push(over);
    if (command.wait && command.do !== 'kill') await over;
    else await delay(APART_MS);
  }
  await Promise.all(underWay);
  await system.control('PUT', '/faults', { forget_keys: 1 });
  await system.control('POST', '/drain?timeout_ms=60000');
  return asked;
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideUpdate } from '../../src/workflows/messages.ts';
import { openCommandLine, type CommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

let system: System;
let receiver: Receiver;
let commands: CommandLine;
let endpoint: string;
beforeAll(async () => {
  [system, receiver] = await Promise.all([
    openSystem({ servers: 1, config: { outgoing: { allow_networks: ['127.0.0.0/8'] } } }),
    startReceiver(),
  ]);
  commands = openCommandLine(null);
  const body = { url: receiver.url, event_types: ['order.paid'] };
  endpoint = (await system.call('POST', '/v1/endpoints', { body })).body.id;
});
afterAll(async () => {
  await system.close();
  await receiver.close();
  commands.remove();
});

interface Dead {
  readonly event: string;
  readonly letter: string;
  readonly orderId: string;
}

/** An event that its receiver never wants: 410 ends the tries at once. */
async function dieOf(name: string): Promise<Dead> {
  receiver.answer({ status: 410 });
  const [orderId, paymentId] = [`ord_${name}`, `pay_${name}`];
  await system.order({ id: orderId });
  await system.pay(paymentId, orderId);
  await system.deliver(paymentEvent(paymentId, orderId));
  const row = await eventually(`the delivery of ${orderId} is before a person`, () =>
    system.row<{ id: string; event_id: string }>(
      `select * from dead_letters where kind = 'delivery_failed' and order_id = $1`,
      orderId,
    ),
  );
  return { event: row.event_id, letter: row.id, orderId };
}

const deliveryIs = (event: string, status: string) =>
  eventually(`${event} is ${status}`, () =>
    system.row<{ n: bigint }>('select * from consumer_deliveries where event_id = $1 and status = $2', event, status),
  );

const decideByApi = (letter: string, action: string) =>
  system.call('POST', `/v1/dead-letters/${encodeURIComponent(letter)}/decide`, { body: { action, note: 'test' } });

const decideByCommand = (letter: string, action: string) =>
  commands.run(['dead-letters', 'decide', letter, action, '--note', 'test', '--json'], {
    env: { PAIDONCE_API_URL: system.servers[0]?.url ?? '', PAIDONCE_API_KEY: system.apiKey },
  });

const decideByUpdate = (event: string, action: 'retry' | 'give_up') =>
  system.temporal.client.workflow
    .getHandle(event)
    .executeUpdate(decideUpdate, { args: [{ action, note: 'test', by: 'back-office' }] });

describe('a delivery that its receiver refuses for good', () => {
  it('is a dead letter that names consumer, endpoint and event, with every id that is known', async () => {
    const { event, letter, orderId } = await dieOf('named');
    const shown = (await system.call('GET', `/v1/dead-letters/${encodeURIComponent(letter)}`)).body;
    expect(shown).toMatchObject({
      ...{ kind: 'delivery_failed', status: 'open', source: 'sim', order_id: orderId, payment_id: 'pay_named' },
      ...{ event_id: event, workflow_id: event, amount: 10_000, currency: 'EUR', choices: ['retry', 'give_up'] },
      last_error: `webhook ${endpoint} did not take order.paid (${event}): The endpoint answered 410.`,
    });
    expect(receiver.received.filter(({ id }) => id === event)).toHaveLength(1);
  });

  const WAYS = {
    'over the API': async ({ letter }: Dead, action: 'retry' | 'give_up') => {
      expect((await decideByApi(letter, action)).status).toBe(200);
    },
    'on the command line': async ({ letter }: Dead, action: 'retry' | 'give_up') => {
      expect(await decideByCommand(letter, action)).toMatchObject({ exitCode: 0 });
    },
    'by a Temporal update': async ({ event }: Dead, action: 'retry' | 'give_up') => {
      expect(await decideByUpdate(event, action)).toEqual({ result: 'decided' });
    },
  };
  const ways = Object.keys(WAYS) as (keyof typeof WAYS)[];

  it.each(ways)('is sent again after a decision %s, once for each order to do so', async (way) => {
    const dead = await dieOf(`again_${ways.indexOf(way)}`);
    receiver.answer({ status: 200 });
    await WAYS[way](dead, 'retry');
    await deliveryIs(dead.event, 'done');
    expect(receiver.received.filter(({ id }) => id === dead.event).map(({ status }) => status)).toEqual([410, 200]);
    expect(await decideByApi(dead.letter, 'retry')).toMatchObject({ status: 409, body: { code: 'already_decided' } });
    await system.temporal.client.workflow.getHandle(dead.event).result();
  });

  it.each(ways)('is let go by a decision %s, and its run ends', async (way) => {
    const dead = await dieOf(`let_go_${ways.indexOf(way)}`);
    await WAYS[way](dead, 'give_up');
    await deliveryIs(dead.event, 'skipped');
    await system.temporal.client.workflow.getHandle(dead.event).result();
    expect(receiver.received.filter(({ id }) => id === dead.event)).toHaveLength(1);
    expect(await decideByApi(dead.letter, 'retry')).toMatchObject({ status: 409, body: { code: 'already_decided' } });
  });

  it('goes before a person anew when it is refused again', async () => {
    const { event, letter } = await dieOf('twice');
    expect((await decideByApi(letter, 'retry')).status).toBe(200);
    await eventually(
      'it was refused again',
      async () => receiver.received.filter(({ id }) => id === event).length === 2,
    );
    await eventually('the row is open again', () =>
      system.row(`select from dead_letters where id = $1 and status = 'open'`, letter),
    );
    expect(await system.count('dead_letters where event_id = $1', event)).toBe(1);
  });

  it('comes right by a resend, which closes its dead letter as recovered', async () => {
    const { event, letter } = await dieOf('resent');
    const { n } = await deliveryIs(event, 'dead');
    receiver.answer({ status: 200 });
    expect((await system.call('POST', `/v1/endpoints/${endpoint}/deliveries/${n}/resend`)).status).toBe(202);
    await deliveryIs(event, 'done');
    const closed = (await system.call('GET', `/v1/dead-letters/${encodeURIComponent(letter)}`)).body;
    expect(closed).toMatchObject({ status: 'recovered', choices: [] });
    await system.temporal.client.workflow.getHandle(event).result();
  });

  it('is decided, and sent, though its run was terminated', async () => {
    const { event, letter } = await dieOf('terminated');
    await system.temporal.client.workflow.getHandle(event).terminate();
    receiver.answer({ status: 200 });
    expect((await decideByApi(letter, 'retry')).status).toBe(200);
    await deliveryIs(event, 'done');
    await system.expectCleanAudit();
  });
});

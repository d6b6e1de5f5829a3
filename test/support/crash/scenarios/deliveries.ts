import { expect } from 'vitest';
import { eventually } from '../../eventually.ts';
import type { ApiAnswer } from '../../api-client.ts';
import type { TestProcess } from '../../processes.ts';
import { isSignedWith } from '../../receiver.ts';
import type { CrashScenario } from '../crash-scenario.ts';
import type { CrashWorld } from '../crash-world.ts';
import { orderId, paidOrder } from './world-before.ts';

/** What an endpoint of a try is owed: the word that its order was paid, which was skipped while it was disabled. */
interface Owed {
  readonly endpointId: string;
  readonly secret: string;
  /** The delivery's number. */
  readonly n: string;
  /** `outbox:{id}`: the workflow, and the webhook's id. */
  readonly eventId: string;
}

const owed = new Map<string, Owed>();

async function owe(world: CrashWorld, tag: string): Promise<void> {
  const endpoint = { url: `${world.receiver.url}/${tag}`, event_types: ['order.paid'] };
  const { id, secret } = (await world.api.post('/v1/endpoints', endpoint)).body;
  await world.api.patch(`/v1/endpoints/${id}`, { disabled: true });
  await paidOrder(world, tag);
  const skipped = await eventually(`the word of ${orderId(tag)} is skipped`, () =>
    world.row<{ n: bigint; event_id: string }>(
      `select n, event_id from consumer_deliveries where target = $1 and order_id = $2 and status = 'skipped'`,
      ...[id, orderId(tag)],
    ),
  );
  owed.set(tag, { endpointId: id, secret, n: String(skipped.n), eventId: skipped.event_id });
}

function owedTo(tag: string): Owed {
  const one = owed.get(tag);
  if (one === undefined) throw new Error(`Nothing is owed to ${tag}.`);
  return one;
}

const disable = (world: CrashWorld, tag: string, disabled: boolean) =>
  world.api.patch(`/v1/endpoints/${owedTo(tag).endpointId}`, { disabled });

async function send(world: CrashWorld, tag: string, door: TestProcess | null): Promise<ApiAnswer> {
  const { endpointId, n } = owedTo(tag);
  const api = door === null ? world.api : world.apiAt(door);
  return api.post(`/v1/endpoints/${endpointId}/deliveries/${n}/resend`);
}

const anEndpointIsTold = {
  prepare: owe,
  tags: (tag) => [owedTo(tag).eventId, owedTo(tag).endpointId],
  async act(world, tag, door) {
    await disable(world, tag, false);
    return send(world, tag, door);
  },
  async check(world, tag) {
    const { n, eventId, secret } = owedTo(tag);
    const delivery = `select status from consumer_deliveries where n = $1`;
    // A person who was not answered asks again.
    if ((await world.row(delivery, n))?.status === 'skipped') await send(world, tag, null);
    expect(await world.row(delivery, n)).toEqual({ status: 'done' });
    const told = world.receiver
      .taken('order.paid')
      .filter(({ path, body }) => path.endsWith(`/${tag}`) && body.data.order_id === orderId(tag));
    // At least once, and always under the one id by which the receiver tells a repeat.
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told.map(({ id }) => id))).toEqual(new Set([eventId]));
    expect(told.filter((one) => !isSignedWith(secret, one))).toEqual([]);
    // A death between the answer and its record is all that sends it a second time.
    expect(told.length).toBeLessThanOrEqual(2);
    // What other tries have to tell is not for it.
    await disable(world, tag, true);
  },
} satisfies Omit<CrashScenario, 'victim'>;

/** What we tell others of: the route that sends an event once more, and the workflow that delivers it. */
export const DELIVERY_SCENARIOS: Readonly<Record<string, CrashScenario>> = {
  'POST /v1/endpoints/…/deliveries/…/resend': { victim: 'server', ...anEndpointIsTold },
  deliverEvent: { victim: 'worker', ...anEndpointIsTold },
};

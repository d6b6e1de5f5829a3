import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { eventually } from '../../eventually.ts';
import type { ApiAnswer } from '../../api-client.ts';
import type { TestProcess } from '../../processes.ts';
import type { CrashScenario } from '../crash-scenario.ts';
import type { CrashWorld } from '../crash-world.ts';
import { AMOUNT, captured, expectPaidOnce, insist, order, orderId, paidOrder, paymentId } from './world-before.ts';

/** A request under an Idempotency-Key, and what there is of it at the gateway in the end. */
interface Keyed {
  readonly prepare?: CrashScenario['prepare'];
  path(tag: string): string;
  body(tag: string): object;
  /** Where the API shows what was reserved. */
  shownAt(tag: string): string;
  /** The prefix of the row's id, where that is derived from the key. */
  readonly prefix?: 'rf_' | 'ch_' | 'tu_';
  /** What the gateway has of it. */
  effects(world: CrashWorld, tag: string): Promise<readonly object[]>;
  readonly also?: (world: CrashWorld, tag: string) => Promise<void>;
}

const keyOf = (tag: string): string => `key_${tag}`;

/** As the API derives it: from client, path and key. */
function rowId(prefix: string, path: string, tag: string): string {
  return `${prefix}${createHash('sha256')
    .update(`shop POST ${path}\n${keyOf(tag)}`)
    .digest('hex')
    .slice(0, 24)}`;
}

const underReference = async (world: CrashWorld, kind: 'payments' | 'refunds' | 'payouts', reference: string) =>
  (await world.atGateway())[kind].filter((one: { reference: string | null }) => one.reference === reference);

const REFUND: Keyed = {
  prepare: (world, tag) => paidOrder(world, tag),
  path: () => '/v1/refunds',
  body: (tag) => ({ source: 'sim', payment_id: paymentId(tag), amount: 4_000 }),
  shownAt: (tag) => `/v1/refunds/${rowId('rf_', '/v1/refunds', tag)}`,
  prefix: 'rf_',
  effects: (world, tag) => underReference(world, 'refunds', `refund:${rowId('rf_', '/v1/refunds', tag)}`),
  async also(world, tag) {
    await expectPaidOnce(world, tag);
    const { body } = await world.api.get(`/v1/orders/${orderId(tag)}`);
    expect(body.amount_refunded).toBe(4_000);
  },
};
const DAY = '2026-12-01';
const PAYOUT: Keyed = {
  path: () => '/v1/payouts',
  body: (tag) => ({
    ...{ source: 'sim', seller_id: `sel_${tag}`, settlement_date: DAY, amount: 7_000, currency: 'EUR' },
    destination: 'acc_1',
  }),
  shownAt: (tag) => `/v1/payouts/test%3Asel_${tag}%3A${DAY}`,
  effects: (world, tag) => underReference(world, 'payouts', `payout:test:sel_${tag}:${DAY}`),
};
const CARD = { source: 'sim', customer_id: 'cus_1', payment_method: 'pm_1', currency: 'EUR' };
const CHARGE: Keyed = {
  prepare: (world, tag) => order(world, tag),
  path: () => '/v1/charges',
  body: (tag) => ({ ...CARD, order_id: orderId(tag), amount: AMOUNT }),
  shownAt: (tag) => `/v1/charges/${rowId('ch_', '/v1/charges', tag)}`,
  prefix: 'ch_',
  effects: (world, tag) => underReference(world, 'payments', `charge:${rowId('ch_', '/v1/charges', tag)}`),
  also: expectPaidOnce,
};
const topUpPath = (tag: string): string => `/v1/wallets/wal_${tag}/top-ups`;
const TOP_UP: Keyed = {
  path: topUpPath,
  body: () => ({ ...CARD, amount: 2_500 }),
  shownAt: (tag) => `/v1/top-ups/${rowId('tu_', topUpPath(tag), tag)}`,
  prefix: 'tu_',
  effects: (world, tag) => underReference(world, 'payments', `top_up:${rowId('tu_', topUpPath(tag), tag)}`),
  async also(world, tag) {
    expect((await world.api.get(`/v1/wallets/wal_${tag}`)).body).toMatchObject({ balance: 2_500 });
  },
};
const CHECKOUT: Keyed = {
  prepare: (world, tag) => order(world, tag),
  path: (tag) => `/v1/orders/${orderId(tag)}/checkout`,
  body: () => ({ source: 'sim' }),
  shownAt: (tag) => `/v1/orders/${orderId(tag)}/checkouts/1`,
  effects: (world, tag) => underReference(world, 'payments', `checkout:${orderId(tag)}:1`),
  async also(world, tag) {
    expect((await world.api.get(`/v1/orders/${orderId(tag)}`)).body).toMatchObject({ status: 'payment_pending' });
  },
};

/** An order's payment that is authorised, and that we have heard of. */
async function authorized(world: CrashWorld, tag: string): Promise<void> {
  await order(world, tag);
  await captured(world, tag, { status: 'authorized' });
  await eventually(`${paymentId(tag)} is authorised`, async () => {
    await world.api.post(`${paymentPath(tag)}/confirm`);
    return (await world.api.get(paymentPath(tag))).body.status === 'authorized';
  });
}

const paymentPath = (tag: string): string => `/v1/payments/sim/${paymentId(tag)}`;
const paymentThatIs = async (world: CrashWorld, tag: string, status: string) =>
  (await world.atGateway()).payments.filter((one) => one.payment_id === paymentId(tag) && one.status === status);

const CAPTURE: Keyed = {
  prepare: authorized,
  path: (tag) => `${paymentPath(tag)}/capture`,
  body: () => ({}),
  shownAt: (tag) => `${paymentPath(tag)}/capture`,
  effects: (world, tag) => paymentThatIs(world, tag, 'captured'),
  also: expectPaidOnce,
};
const VOID: Keyed = {
  prepare: authorized,
  path: (tag) => `${paymentPath(tag)}/void`,
  body: () => ({}),
  shownAt: (tag) => `${paymentPath(tag)}/void`,
  effects: (world, tag) => paymentThatIs(world, tag, 'expired'),
  async also(world, tag) {
    const { body } = await world.api.get(`/v1/orders/${orderId(tag)}`);
    expect(body).toMatchObject({ status: 'failed_final', amount_paid: 0 });
  },
};

function send(world: CrashWorld, keyed: Keyed, tag: string, door: TestProcess | null): Promise<ApiAnswer> {
  const api = door === null ? world.api : world.apiAt(door);
  return api.post(keyed.path(tag), keyed.body(tag), { 'idempotency-key': keyOf(tag) });
}

function scenario(victim: CrashScenario['victim'], keyed: Keyed): CrashScenario {
  const { prepare, prefix } = keyed;
  return {
    victim,
    ...(prepare === undefined ? {} : { prepare }),
    tags: (tag) => (prefix === undefined ? [] : [rowId(prefix, keyed.path(tag), tag)]),
    act: (world, tag, door) => send(world, keyed, tag, door),
    async check(world, tag, heard) {
      // What was reserved is carried out though nobody comes back for it.
      const reserved = await world.api.get(keyed.shownAt(tag));
      if (reserved.status !== 404) expect(reserved.body).toMatchObject({ status: 'succeeded' });
      const told = await insist(() => send(world, keyed, tag, null));
      expect([201, 202], told.text).toContain(told.status);
      // Whoever was answered before hears the same again, byte for byte; whoever was not hears what is stored from now on.
      if (heard !== null && heard.status < 300) expect([told.status, told.text]).toEqual([heard.status, heard.text]);
      expect((await send(world, keyed, tag, null)).text).toBe(told.text);
      const now = await world.api.get(told.headers.get('location') ?? '');
      expect(now.body).toMatchObject({ status: 'succeeded' });
      expect(await keyed.effects(world, tag)).toHaveLength(1);
      await keyed.also?.(world, tag);
    },
  };
}

/** Every request that moves money, with the death of the API's process, and with the death of the worker that carries it out. */
export const MOVE_SCENARIOS: Readonly<Record<string, CrashScenario>> = {
  'POST /v1/refunds': scenario('server', REFUND),
  refundPayment: scenario('worker', REFUND),
  'POST /v1/payouts': scenario('server', PAYOUT),
  payOutSeller: scenario('worker', PAYOUT),
  'POST /v1/charges': scenario('server', CHARGE),
  chargeSavedCard: scenario('worker', CHARGE),
  'POST /v1/wallets/…/top-ups': scenario('server', TOP_UP),
  topUpWallet: scenario('worker', TOP_UP),
  'POST /v1/orders/…/checkout': scenario('server', CHECKOUT),
  startCheckout: scenario('worker', CHECKOUT),
  'POST /v1/payments/…/capture': scenario('server', CAPTURE),
  capturePayment: scenario('worker', CAPTURE),
  'POST /v1/payments/…/void': scenario('server', VOID),
  voidPayment: scenario('worker', VOID),
  reapIdempotencyKeys: {
    victim: 'worker',
    async prepare(world, tag) {
      await paidOrder(world, tag);
      const told = await insist(() => send(world, REFUND, tag, null));
      expect(told.status).toBe(201);
    },
    tags: (tag) => [rowId('rf_', '/v1/refunds', tag)],
    async act(world, tag) {
      // As its process would have left it, had it died before it could answer.
      await world.row(
        `update idempotency_keys set status = 'in_progress', response_code = null, response_body = null, response_headers = null,
                completed_at = null, leased_until = now() - interval '1 second' where key = $1`,
        keyOf(tag),
      );
      const run = { taskQueue: 'paidonce', workflowId: `reap-${tag}` };
      await world.temporal.client.workflow.start('reapIdempotencyKeys', run);
    },
    async check(world, tag) {
      expect(await world.row('select status from idempotency_keys where key = $1', keyOf(tag))).toEqual({
        status: 'completed',
      });
      const told = await send(world, REFUND, tag, null);
      expect([told.status, told.body.status, told.headers.get('idempotent-replayed')]).toEqual([
        201,
        'succeeded',
        'true',
      ]);
      expect(await REFUND.effects(world, tag)).toHaveLength(1);
    },
  },
  ...decisions(),
};

function decisions(): Record<string, CrashScenario> {
  const refundId = (tag: string): string => rowId('rf_', '/v1/refunds', tag);
  const decide = async (world: CrashWorld, tag: string, door: TestProcess | null): Promise<ApiAnswer> => {
    const letter = await world.row<{ id: string }>('select id from dead_letters where refund_id = $1', refundId(tag));
    const path = `/v1/dead-letters/${encodeURIComponent(letter?.id ?? '')}/decide`;
    return (door === null ? world.api : world.apiAt(door)).post(path, {
      action: 'retry',
      note: 'the cause is repaired',
    });
  };
  const retried = (victim: CrashScenario['victim']): CrashScenario => ({
    victim,
    faultsBefore: { refuse: { calls: ['refunds.writes'] } },
    async prepare(world, tag) {
      await paidOrder(world, tag);
      const told = await insist(() => send(world, REFUND, tag, null));
      expect(told.body.status, told.text).toBe('needs_review');
    },
    tags: (tag) => [refundId(tag)],
    act: decide,
    async check(world, tag) {
      // Decided by the one that died, or now; never twice.
      expect([200, 409]).toContain((await decide(world, tag, null)).status);
      const { body } = await world.api.get(`/v1/refunds/${refundId(tag)}`);
      expect(body).toMatchObject({ status: 'succeeded', amount: 4_000 });
      expect(await REFUND.effects(world, tag)).toHaveLength(1);
      await REFUND.also?.(world, tag);
    },
  });
  return {
    'POST /v1/dead-letters/…/decide': retried('server'),
    'refundPayment after a decision': retried('worker'),
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment-states.ts';
import type { Bank } from './bank.ts';
import type { Deliveries } from './deliveries.ts';
import { faultsSchema, type Faults } from './faults.ts';
import type { Later } from './later.ts';
import { Refusal } from './refusal.ts';
import { jsonOf, type Reply, type Request, type Route } from './router.ts';
import type { State } from './state.ts';
import { paymentView, payoutView, refundView } from './views.ts';

interface Dependencies {
  readonly state: State;
  readonly bank: Bank;
  readonly faults: Faults;
  readonly deliveries: Deliveries;
  readonly later: Later;
  readonly calls: ReadonlyMap<string, number>;
  readonly url: () => string;
  readonly reset: () => void;
}

/** Longer than any test should wait, shorter than the time in which an undeliverable webhook is given up. */
const LONGEST_DRAIN_MS = 120_000;

const announce = { deliver: z.boolean().optional(), times: z.int().min(1).max(1_000).optional() };
const id = z.string().min(1);
const amount = z.int().min(0);
const payment = z.object({
  payment_id: id.optional(),
  order_id: id.nullable().default(null),
  amount: amount.nullable().default(null),
  currency: z.string().nullable().default(null),
  status: z.enum(PAYMENT_STATUSES).default('captured'),
  reference: id.nullable().optional(),
  mode: z.enum(['test', 'live']).optional(),
  return_url: z.url({ protocol: /^https?$/ }).optional(),
  ...announce,
});
const refund = z.object({
  refund_id: id.optional(),
  payment_id: id,
  amount,
  reference: id.nullable().optional(),
  status: z.enum(['pending', 'succeeded', 'failed']).default('succeeded'),
  ...announce,
});
const dispute = z.object({
  payment_id: id,
  dispute_id: id,
  status: z.enum(['opened', 'won', 'lost']),
  amount: amount.optional(),
  /** What the gateway charges for it, all in all. */
  fee: amount.optional(),
  ...announce,
});
const event = z.object({
  id: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .optional(),
  type: z.string(),
  timestamp: z.string().optional(),
  data: z.record(z.string(), z.unknown()),
  ...announce,
});
const verbs = z.object(announce);

const PAYMENT_VERBS: readonly (readonly [string, PaymentStatus])[] = [
  ['capture', 'captured'],
  ['fail', 'failed'],
  ['expire', 'expired'],
  ['authorize', 'authorized'],
];

/** What a test, a demo or a person at the keyboard may do; start-simulator.ts documents it. */
export function controlRoutes({ state, bank, faults, deliveries, later, calls, url, reset }: Dependencies): Route[] {
  const view = (id: string): unknown => paymentView(state, url(), bank.payment(id));
  const lastEvent = (): string | null => state.events.newest()?.id ?? null;

  function post(path: string, work: (request: Request) => unknown): Route {
    return { method: 'POST', path: `/sim${path}`, handle: (request): Reply => ({ status: 200, json: work(request) }) };
  }

  function summary(): Record<string, unknown> {
    return {
      payments: state.payments.all().map(({ id }) => view(id)),
      refunds: state.refunds.all().map(refundView),
      payouts: state.payouts.all().map(payoutView),
      events: state.events.size,
      deliveries: deliveries.counts(),
      pending: deliveries.pending(),
      calls: Object.fromEntries(calls),
      faults_met: faults.met(),
    };
  }

  return [
    { method: 'GET', path: '/sim/state', handle: () => ({ status: 200, json: summary() }) },
    { method: 'GET', path: '/sim/faults', handle: () => ({ status: 200, json: faults.settings() }) },
    {
      method: 'PUT',
      path: '/sim/faults',
      handle(request) {
        faults.set(faultsSchema.parse(jsonOf(request)));
        return { status: 200, json: faults.settings() };
      },
    },
    post('/payments', (request) => {
      const { deliver, times, ...wanted } = payment.parse(jsonOf(request));
      const made = bank.addPayment(wanted, { deliver, times });
      return { ...(view(made.id) as object), event_id: lastEvent() };
    }),
    ...PAYMENT_VERBS.map(([verb, status]) =>
      post(`/payments/:id/${verb}`, (request) => {
        const { id } = bank.movePayment(request.params['id'] ?? '', status, verbs.parse(jsonOf(request)));
        return { ...(view(id) as object), event_id: lastEvent() };
      }),
    ),
    post('/refunds', (request) => {
      const { deliver, times, ...wanted } = refund.parse(jsonOf(request));
      return { ...refundView(bank.addRefund(wanted, { deliver, times }, false)), event_id: lastEvent() };
    }),
    ...(['succeeded', 'failed'] as const).map((status) =>
      post(`/refunds/:id/${status === 'failed' ? 'fail' : 'succeed'}`, (request) => {
        const moved = bank.moveRefund(request.params['id'] ?? '', status, verbs.parse(jsonOf(request)));
        return { ...refundView(moved), event_id: lastEvent() };
      }),
    ),
    ...(['paid', 'failed'] as const).map((status) =>
      post(`/payouts/:id/${status === 'failed' ? 'fail' : 'pay'}`, (request) => {
        const moved = bank.movePayout(request.params['id'] ?? '', status, verbs.parse(jsonOf(request)));
        return { ...payoutView(moved), event_id: lastEvent() };
      }),
    ),
    post('/disputes', (request) => {
      const { deliver, times, status, ...wanted } = dispute.parse(jsonOf(request));
      const { order_id, amount, currency, mode } = bank.payment(wanted.payment_id);
      const data = { order_id, amount, currency, mode, ...wanted, status };
      return { event_id: bank.announce({ type: `dispute.${status}`, data }, { deliver, times }).id };
    }),
    post('/events', (request) => {
      const { deliver, times, id, type, timestamp, data } = event.parse(jsonOf(request));
      const given = {
        type,
        data,
        ...(id === undefined ? {} : { id }),
        ...(timestamp === undefined ? {} : { timestamp }),
      };
      return { event_id: bank.announce(given, { deliver, times }).id };
    }),
    post('/events/:id/redeliver', (request) => {
      const sent = state.events.get(request.params['id'] ?? '');
      if (!sent) throw new Refusal(404, 'event_not_found');
      deliveries.redeliver(sent, verbs.parse(jsonOf(request)).times ?? 1);
      return { event_id: sent.id };
    }),
    {
      method: 'POST',
      path: '/sim/drain',
      async handle({ query, gone }) {
        const until = Date.now() + Math.min(Number(query.get('timeout_ms') ?? 30_000) || 0, LONGEST_DRAIN_MS);
        const idle = (): boolean => deliveries.idle() && later.idle();
        while (!idle() && Date.now() < until && !gone.aborted) await delay(10);
        return { status: 200, json: { drained: idle(), pending: deliveries.pending().length } };
      },
    },
    post('/reset', () => {
      reset();
      return { reset: true };
    }),
  ];
}

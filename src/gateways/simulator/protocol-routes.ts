import { z } from 'zod';
import type { Bank } from './bank.ts';
import type { Completions } from './completions.ts';
import type { Faults } from './faults.ts';
import type { createProtocolCall } from './protocol-call.ts';
import { Refusal } from './refusal.ts';
import { jsonOf, type Reply, type Request, type Route } from './router.ts';
import type { State } from './state.ts';
import { onceByKey } from './once-by-key.ts';
import { paymentView, payoutView, refundView } from './views.ts';

interface Dependencies {
  readonly state: State;
  readonly bank: Bank;
  readonly faults: Faults;
  readonly completions: Completions;
  readonly call: ReturnType<typeof createProtocolCall>;
  readonly url: () => string;
}

const id = z.string().regex(/^[\x21-\x7e]{1,200}$/);
const reference = z.string().min(1).max(1_000);
const money = { amount: z.int().min(1), currency: z.string().min(1) };

const newPayment = z.object({
  order_id: id,
  ...money,
  reference,
  return_url: z.url({ protocol: /^https?$/ }).optional(),
});
const newCharge = z.object({
  order_id: id.optional(),
  customer_id: z.string(),
  payment_method: z.string(),
  ...money,
  reference,
});
const newRefund = z.object({ payment_id: id, amount: money.amount, reference });
const newCapture = z.object({ amount: money.amount.optional(), reference });
const newVoid = z.object({ reference });
const newPayout = z.object({ seller_id: z.string().min(1), ...money, destination: z.string().min(1), reference });

/** The `standard` protocol, as any in-house gateway speaks it. */
export function protocolRoutes({ state, bank, faults, completions, call, url }: Dependencies): Route[] {
  type View = (id: string) => unknown;
  const payment: View = (id) => paymentView(state, url(), bank.payment(id));
  const refund: View = (id) => refundView(bank.refund(id));
  const payout: View = (id) => payoutView(bank.payout(id));

  /** A POST that makes one object, or ends one, under its Idempotency-Key if there is one. */
  function create<Body>(
    path: string,
    schema: z.ZodType<Body>,
    view: View,
    make: (body: Body, names: readonly string[], id: string) => { id: string },
  ): Route {
    return call({
      method: 'POST',
      path,
      work(request, names) {
        const body = schema.parse(jsonOf(request));
        const id = request.params['id'] ?? '';
        const made = onceByKey(state, path.replace(':id', id), keyOf(request, names), body, () => {
          const refusal = faults.meets('refuse', names);
          if (refusal) throw new Refusal(refusal.status, refusal.code);
          return make(body, names, id);
        });
        return { status: 201, json: view(made) };
      },
    });
  }

  function keyOf({ headers }: Request, names: readonly string[]): string | null {
    const key = headers['idempotency-key'];
    return typeof key !== 'string' || key === '' || faults.meets('forget_keys', names) ? null : key;
  }

  function read(path: string, work: (request: Request) => unknown): Route {
    return call({ method: 'GET', path, work: (request): Reply => ({ status: 200, json: work(request) }) });
  }

  /** Whether an object begins as pending, and when it ends by itself. */
  function pending(names: readonly string[]): { completes_at: number | null } | null {
    const met = faults.meets('pending', names);
    if (!met) return null;
    return { completes_at: met.complete_ms === null ? null : Date.now() + faults.between('pending', met.complete_ms) };
  }

  return [
    create('/payments', newPayment, payment, (body) => bank.addPayment({ ...body, status: 'pending' }, null)),
    // Beyond the protocol: see `extensions` in docs/gateways.md.
    create('/payments/:id/capture', newCapture, payment, ({ amount }, _names, of) =>
      bank.endAuthorization(of, { captured: amount ?? null }),
    ),
    create('/payments/:id/void', newVoid, payment, (_body, _names, of) => bank.endAuthorization(of, 'void')),
    create('/charges', newCharge, payment, ({ payment_method, order_id, amount, currency, reference }, names) => {
      if (payment_method.includes('declined')) throw new Refusal(402, 'card_declined');
      const open = pending(names);
      const facts = { order_id: order_id ?? null, amount, currency, reference };
      const charged = bank.addPayment({ ...facts, status: open ? 'pending' : 'captured', ...open }, {});
      completions.payment(charged);
      return charged;
    }),
    create('/refunds', newRefund, refund, (body, names) => {
      const open = pending(names);
      const made = bank.addRefund({ ...body, status: open ? 'pending' : 'succeeded', ...open }, {}, true);
      completions.refund(made);
      return made;
    }),
    create('/payouts', newPayout, payout, (body, names) => {
      const open = pending(names);
      const made = bank.addPayout({
        ...body,
        status: open ? 'pending' : 'paid',
        completes_at: open?.completes_at ?? null,
      });
      completions.payout(made);
      return made;
    }),
    read('/payments/:id', ({ params }) => payment(params['id'] ?? '')),
    read('/refunds/:id', ({ params }) => refund(params['id'] ?? '')),
    read('/payouts/:id', ({ params }) => payout(params['id'] ?? '')),
    read('/payments', ({ query }) => ({
      data: state.payments.by('reference', filter(query, 'reference')).map(({ id }) => payment(id)),
    })),
    read('/refunds', ({ query }) => {
      const of = query.get('payment_id');
      const found =
        of === null ? state.refunds.by('reference', filter(query, 'reference')) : state.refunds.by('payment', of);
      return { data: found.map(refundView) };
    }),
    read('/payouts', ({ query }) => ({
      data: state.payouts.by('reference', filter(query, 'reference')).map(payoutView),
    })),
    read('/events', ({ query }) => eventsPage(state, query)),
  ];
}

function filter(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw new Refusal(400, 'filter_required', `The list is only given by ${name}.`);
  return value;
}

/** A cursor is the id of the last event seen, so that a reader can go on from there later too. */
function eventsPage(state: State, query: URLSearchParams): { data: unknown[]; next: string | null } {
  const events = state.events.all();
  const now = Date.now();
  const after = query.get('after');
  const from = after === null || after === '' ? 0 : events.findIndex(({ id }) => id === after) + 1;
  if (from === 0 && after) throw new Refusal(400, 'unknown_cursor');
  const limit = Math.min(Math.max(Math.trunc(Number(query.get('limit') ?? 50)) || 50, 1), 200);
  const listed = events.slice(from).filter(({ listed_at }) => (listed_at ?? 0) <= now);
  const data = listed.slice(0, limit).map(({ listed_at: _listedAt, ...event }) => event);
  return { data, next: listed.length > limit ? (data.at(-1)?.id ?? null) : null };
}

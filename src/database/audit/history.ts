import { PAYMENT_STATUSES, paymentReaches } from '../../domain/payment-states.ts';
import { REFUND_STATUSES, refundMayBecome } from '../../domain/refund-states.ts';
import { ORDER_STATUSES } from '../../domain/order-states.ts';
import { BY_A_PERSON, type Check } from './check.ts';

interface Machine {
  readonly name: 'order' | 'payment' | 'refund' | 'payout' | 'charge' | 'top_up' | 'capture' | 'void';
  /** Answers `object_id`, the present `status`, and the ids of a violator. */
  readonly present: string;
  readonly ids: string;
  readonly statuses: readonly string[];
  readonly allows: (from: string, to: string) => boolean;
  /** What leads on only where a person decided it. */
  readonly decided?: (from: string, to: string) => boolean;
}

/** Nothing leads out of these. Counting another part leaves an order partly paid, which is a transition all the same. */
const ENDED = ['paid', 'cancelled', 'expired'];

function moveMayBecome(from: string, to: string): boolean {
  return REFUND_STATUSES.some((a) => a === from && REFUND_STATUSES.some((b) => b === to && refundMayBecome(a, b)));
}

function triesAgain(from: string, to: string): boolean {
  return from === 'failed' && to === 'pending';
}

const MACHINES: readonly Machine[] = [
  {
    name: 'order',
    present: `select id as object_id, status, id as order_id from orders`,
    ids: 'order_id',
    statuses: ORDER_STATUSES,
    allows: (from) => !ENDED.includes(from),
    decided: (from, to) => ['cancelled', 'expired'].includes(from) && ['paid', 'partially_paid'].includes(to),
  },
  {
    name: 'payment',
    present: `select source || ':' || payment_id as object_id, status, source, payment_id, order_id from payments`,
    ids: 'source, payment_id, order_id',
    statuses: PAYMENT_STATUSES,
    // One look may find that several named transitions happened since the last.
    allows: (from, to) =>
      PAYMENT_STATUSES.some((a) => a === from && PAYMENT_STATUSES.some((b) => b === to && paymentReaches(a, b))),
  },
  {
    name: 'refund',
    present: `select id as object_id, status, id as refund_id, source, payment_id, order_id from refunds`,
    ids: 'refund_id, source, payment_id, order_id',
    statuses: REFUND_STATUSES,
    allows: moveMayBecome,
    decided: triesAgain,
  },
  {
    name: 'payout',
    present: `select id as object_id, status, id as payout_id, source from payouts`,
    ids: 'payout_id, source',
    statuses: REFUND_STATUSES,
    allows: moveMayBecome,
    decided: triesAgain,
  },
  ...(['charge', 'top_up'] as const).map((name): Machine => ({
    name,
    present: `select id as object_id, status, id as ${name}_id, source, payment_id from ${name}s`,
    ids: `${name}_id, source, payment_id`,
    statuses: REFUND_STATUSES,
    // Its payment may be recovered after it had failed.
    allows: (from, to) => moveMayBecome(from, to) || (from === 'failed' && to === 'succeeded'),
  })),
  ...(['capture', 'void'] as const).map((name): Machine => ({
    name,
    present: `select id as object_id, status, source, payment_id, order_id from ${name}s`,
    ids: 'source, payment_id, order_id',
    statuses: REFUND_STATUSES,
    // What the gateway refused may have come about all the same: by its own tools, or as time went by.
    allows: (from, to) => moveMayBecome(from, to) || (from === 'failed' && to === 'succeeded'),
  })),
];

/** The written history of each machine leads, by named transitions alone, to what stands there now. */
export const HISTORY_CHECKS: readonly Check[] = MACHINES.map((machine) => ({
  invariant: `${machine.name}_history`,
  requirement: 'B3',
  promise: `Every ${machine.name} came to its status by named transitions, each from where the one before led.`,
  sql: `
    with step as (
      select object_id, id, from_status, to_status, ${BY_A_PERSON} as decided, lag(to_status) over w as before, lead(id) over w is null as last
      from state_transitions where machine = '${machine.name}' window w as (partition by object_id order by id)
    ), allowed (from_status, to_status, decided) as (values ${allowed(machine)}),
    wrong as (
      select s.object_id, format('%s to %s is no transition', s.from_status, s.to_status) as detail
      from step s left join allowed a on a.from_status = s.from_status and a.to_status = s.to_status and (s.decided or not a.decided)
      where s.from_status is not null and a.to_status is null
      union all
      select object_id, format('from %s to %s, but it was %s', coalesce(from_status, 'nothing'), to_status, before)
      from step where before is not null and from_status is distinct from before)
    select ${machine.ids}, coalesce(w.detail, format('it is %s, and its history ends with %s', p.status, coalesce(s.to_status, 'nothing'))) as detail
    from (${machine.present}) p
    left join wrong w on w.object_id = p.object_id
    left join step s on s.object_id = p.object_id and s.last
    where w.object_id is not null or p.status is distinct from coalesce(s.to_status, ${machine.name === 'order' ? `'pending_payment'` : 'null'})`,
}));

function allowed({ statuses, allows, decided = () => false }: Machine): string {
  return statuses
    .flatMap((from) =>
      statuses
        .filter((to) => allows(from, to) || decided(from, to))
        .map((to) => `('${from}', '${to}', ${!allows(from, to)})`),
    )
    .join(', ');
}

import { allowsStep, statesOf } from '../../domain/state-machine.ts';
import { STATE_MACHINES, type MachineName } from '../../domain/state-machines.ts';
import { BY_A_PERSON, encoded, type Check } from './check.ts';

interface Kept {
  readonly name: MachineName;
  /** Answers `object_id`, the present `status`, and the ids of a violator. */
  readonly present: string;
  readonly ids: string;
  /** The state of an object whose beginning is not written down; null where every beginning is. */
  readonly silent: string | null;
}

/** Where the objects of each machine stand. */
const KEPT: readonly Kept[] = [
  {
    name: 'order',
    present: `select id as object_id, status, id as order_id from orders`,
    ids: 'order_id',
    silent: 'pending_payment',
  },
  {
    name: 'payment',
    present: `select source || ':' || payment_id as object_id, status, source, payment_id, order_id from payments`,
    ids: 'source, payment_id, order_id',
    silent: null,
  },
  {
    name: 'refund',
    present: `select id as object_id, status, id as refund_id, source, payment_id, order_id from refunds`,
    ids: 'refund_id, source, payment_id, order_id',
    silent: null,
  },
  {
    name: 'dispute',
    present: `select ${encoded('source')} || ':' || ${encoded('dispute_id')} as object_id, status, dispute_id, source, payment_id, order_id from disputes`,
    ids: 'dispute_id, source, payment_id, order_id',
    silent: null,
  },
  {
    name: 'payout',
    present: `select id as object_id, status, id as payout_id, source from payouts`,
    ids: 'payout_id, source',
    silent: null,
  },
  ...(['charge', 'top_up'] as const).map((name): Kept => ({
    name,
    present: `select id as object_id, status, id as ${name}_id, source, payment_id from ${name}s`,
    ids: `${name}_id, source, payment_id`,
    silent: null,
  })),
  ...(['capture', 'void'] as const).map((name): Kept => ({
    name,
    present: `select id as object_id, status, source, payment_id, order_id from ${name}s`,
    ids: 'source, payment_id, order_id',
    silent: null,
  })),
  {
    name: 'checkout',
    present: `select 'checkout:' || ${encoded('order_id')} || ':' || n as object_id, status, order_id, source, payment_id from checkouts`,
    ids: 'order_id, source, payment_id',
    silent: 'pending',
  },
  {
    name: 'dead_letter',
    present: `select id as object_id, status, id as dead_letter_id, source, payment_id, order_id from dead_letters`,
    ids: 'dead_letter_id, source, payment_id, order_id',
    silent: 'open',
  },
];

/** Every step that a table allows; `decided`: only as a person's. */
const ALLOWED = `
  allowed (machine, from_status, to_status, decided) as (values ${KEPT.flatMap(({ name }) => steps(name)).join(', ')})`;

function steps(name: MachineName): string[] {
  const machine = STATE_MACHINES[name];
  const states = statesOf(machine);
  return [null, ...states].flatMap((from) =>
    states
      .filter((to) => allowsStep(machine, from, to, true))
      .map(
        (to) =>
          `('${name}', ${from === null ? 'null' : `'${from}'`}, '${to}', ${!allowsStep(machine, from, to, false)})`,
      ),
  );
}

/** The written history of each machine leads, by named transitions alone, to what stands there now. */
const HISTORIES: readonly Check[] = KEPT.map(({ name, present, ids, silent }) => ({
  invariant: `${name}_history`,
  requirement: 'B3',
  promise: `Every ${name} came to its status by transitions of which each begins where the one before led.`,
  sql: `
    with step as (
      select object_id, from_status, to_status, lag(to_status) over w as before, lead(id) over w is null as last
      from state_transitions where machine = '${name}' window w as (partition by object_id order by id)
    ), wrong as (
      select object_id, format('from %s to %s, but it was %s', coalesce(from_status, 'nothing'), to_status, before) as detail
      from step where before is not null and from_status is distinct from before)
    select ${ids}, coalesce(w.detail, format('it is %s, and its history ends with %s', p.status, coalesce(s.to_status, 'nothing'))) as detail
    from (${present}) p
    left join wrong w on w.object_id = p.object_id
    left join step s on s.object_id = p.object_id and s.last
    where w.object_id is not null or p.status is distinct from coalesce(s.to_status, ${silent === null ? 'null' : `'${silent}'`})`,
}));

export const HISTORY_CHECKS: readonly Check[] = [
  ...HISTORIES,
  {
    invariant: 'transition_has_a_name',
    requirement: 'B3',
    promise: 'Every step in the history stands in the table of its machine; what only a person decides, a person did.',
    sql: `
      with ${ALLOWED}
      select t.order_id, t.source, t.payment_id, t.object_id as object,
             format('a %s never goes from %s to %s; by %s', t.machine, coalesce(t.from_status, 'nothing'), t.to_status, t.cause) as detail
      from state_transitions t
      left join allowed a on a.machine = t.machine and a.from_status is not distinct from t.from_status and a.to_status = t.to_status
      where a.machine is null or a.decided and not ${BY_A_PERSON}`,
  },
];

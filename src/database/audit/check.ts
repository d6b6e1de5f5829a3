import { PERSON_CAUSES } from '../../domain/by-person.ts';

/**
 * One invariant as one statement that answers its violators: a row for each, with a `detail` and the ids that are known.
 * Every statement is set-based, so that a hundred thousand orders take seconds.
 */
export interface Check {
  /** Short and stable; what a violation is called. */
  readonly invariant: string;
  /** The rule that it belongs to, as docs/guarantees.md numbers them. */
  readonly requirement: string;
  /** What holds where there is no violator. */
  readonly promise: string;
  readonly sql: string;
}

/** The columns by which a violator may be named, beside `detail`. */
export const VIOLATOR_IDS = [
  'order_id',
  'source',
  'payment_id',
  'refund_id',
  'dispute_id',
  'payout_id',
  'charge_id',
  'top_up_id',
  'wallet_id',
  'event_id',
  'dead_letter_id',
  'line_id',
  'posting',
  'outbox_id',
  'object',
] as const;

/** Work that the machine does by itself is done within this, unless it is known to wait; what is older is stuck. */
export const STUCK_AFTER = `interval '1 hour'`;

/** From this moment on every announcement is still there; what was published before may have been removed (`cleanings`). */
const KEPT_SINCE = `coalesce((select before from cleanings where table_name = 'outbox'), '-infinity')`;

/** Whether `there` announcements are others than `due`; fewer are right where what they tell of is older than what is kept. */
export function announcedWrongly(there: string, due: string, since: string): string {
  return `(${there} > ${due} or ${there} < ${due} and ${since} >= ${KEPT_SINCE})`;
}

/** `encodePart` of src/domain/keys.ts, in SQL. */
export function encoded(column: string): string {
  return `replace(replace(${column}, '%', '%25'), ':', '%3A')`;
}

/** A list of text values, for `in (…)`. */
export function texts(values: readonly string[]): string {
  return values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ');
}

/** How `decideDeadLetter` and what follows from it name themselves in the history. */
export const BY_A_PERSON = `(${PERSON_CAUSES.map((begin) => `cause like '${begin}%'`).join(' or ')})`;

/** Orders that were over, and for which a person counted a payment after all (B6). */
export const REVIVED = `
  revived as (
    select distinct object_id as order_id from state_transitions
    where machine = 'order' and from_status in ('cancelled', 'expired') and to_status in ('paid', 'partially_paid') and ${BY_A_PERSON})`;

/** The entries that credit a wallet, and what is named by the payment behind each. */
export const CREDITS = `
  credits as (
    select source, payment_id, count(*) as n from wallet_entries where refund_id is null group by source, payment_id)`;

/** The captured payments with what became of each. `refunded_by_a_person`: somebody decided that it goes back. */
export const CAPTURED = `
  ${CREDITS}, ${REVIVED}, sent_back as (
    select distinct source, payment_id from state_transitions
    where machine = 'dead_letter' and to_status = 'decided' and detail like 'refund: %'
  ), captured as (
    select p.source, p.payment_id, p.order_id, p.amount, p.currency, p.outcome, p.waiting_for, p.purpose,
           c.payment_id is not null as counted, w.payment_id is not null as credited,
           b.payment_id is not null as refunded_by_a_person, v.order_id is not null as revived,
           r.kind as automatic, o.status as order_status,
           exists (select from dead_letters d
                   where d.source = p.source and d.payment_id = p.payment_id and d.status in ('open', 'decided')
                     and d.kind in ('wrong_currency', 'late_capture', 'order_not_payable', 'unmatched_payment',
                                    'unknown_at_gateway', 'event_unreadable')) as before_a_human
    from payments p
    left join order_payments c on c.source = p.source and c.payment_id = p.payment_id
    left join refunds r on r.source = p.source and r.payment_id = p.payment_id and r.kind in ('extra_capture', 'late_capture')
    left join orders o on o.id = p.order_id
    left join credits w on w.source = p.source and w.payment_id = p.payment_id
    left join sent_back b on b.source = p.source and b.payment_id = p.payment_id
    left join revived v on v.order_id = p.order_id
    where p.status = 'captured')`;

/** Refunds that had succeeded and that the bank then sent back, and how often: what they stopped stays stopped. */
export const RETURNED = `
  returned as (
    select object_id as refund_id, count(*) as n from state_transitions
    where machine = 'refund' and from_status = 'succeeded' and to_status = 'failed' group by object_id)`;

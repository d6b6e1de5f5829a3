import { currencyExponent } from '../../domain/money.ts';
import { encoded, RETURNED, texts, type Check } from './check.ts';

/**
 * For each paid order its lines and units, and what there is of them: `expected` and `there` are null where one side lacks
 * the other.
 */
function perUnit(table: string, kinds: string, there: string): string {
  return `
    expected as (
      select l.order_id, l.id as line_id, unit, l.amount, l.kind, l.reference
      from order_lines l join orders o on o.id = l.order_id and o.status = 'paid'
      cross join lateral generate_series(1, ${table === 'bookings' ? '1' : 'l.quantity'}) as unit
      where l.kind in (${kinds})
    ), there as (select order_id, line_id, ${table === 'bookings' ? '1 as unit' : 'unit'}, ${there} from ${table})`;
}

const UNMATCHED = `case when t.order_id is null then 'the order is paid, and there is none' else 'there is one, and no paid order asks for it' end`;

/** What stopped with a full refund: the table, how it says so, and by which refund. */
const STOPPABLE = `
  stoppable as (
    select 'booking' as what, order_id, line_id, 1 as unit, status = 'cancelled' as stopped, cancelled_by_refund as by from bookings
    union all
    select 'gift card', order_id, line_id, unit, status in ('disabled', 'limited'), stopped_by_refund from gift_cards
    union all
    select 'package', order_id, line_id, unit, status = 'disabled', stopped_by_refund from packages)`;

/** The dispute that took a consequence back, where otherwise a refund's id stands. */
const NAMED_DISPUTE = (column: string) =>
  `${column} = 'dispute:' || ${encoded('d.source')} || ':' || ${encoded('d.dispute_id')}`;

/** floor(rate × kept money in major units), as src/domain/loyalty.ts; `$1` is the rate, in millionths, of orders that keep none. */
const POINTS = `
  div(least(o.amount_due, greatest(0, o.amount_paid - o.amount_refunded - o.amount_charged_back))::numeric
        * coalesce(o.loyalty_rate, $1::bigint),
      1000000 * power(10::numeric, e.exponent)::numeric)`;

/** Every consequence of a paid order, once, and taken back exactly when its money was. `currencies` are those of the orders. */
export function consequenceChecks(currencies: readonly string[]): readonly Check[] {
  const exponents = ['XXX', ...currencies].map((c) => `(${texts([c])}, ${currencyExponent(c)})`).join(', ');
  return [
    {
      invariant: 'booking_per_line',
      requirement: 'C2',
      promise: 'Every booking and enrolment line of a paid order is confirmed once, and no other.',
      sql: `
        with ${perUnit('bookings', `'booking', 'enrolment'`, 'kind')}
        select coalesce(e.order_id, t.order_id) as order_id, coalesce(e.line_id, t.line_id) as line_id, ${UNMATCHED} as detail
        from expected e full join there t on t.order_id = e.order_id and t.line_id = e.line_id and t.kind = e.kind
        where e.order_id is null or t.order_id is null`,
    },
    {
      invariant: 'gift_card_per_unit',
      requirement: 'C2',
      promise: "Every unit of a paid order's gift-card lines is issued once, and together they are worth the line.",
      sql: `
        with ${perUnit('gift_cards', `'gift_card'`, 'amount, remaining, status')}
        select coalesce(e.order_id, t.order_id) as order_id, coalesce(e.line_id, t.line_id) as line_id,
               format('unit %s: %s', coalesce(e.unit, t.unit), ${UNMATCHED}) as detail
        from expected e full join there t on t.order_id = e.order_id and t.line_id = e.line_id and t.unit = e.unit
        where e.order_id is null or t.order_id is null
        union all
        select e.order_id, e.line_id, format('the cards are worth %s, the line %s', sum(t.amount), min(e.amount))
        from expected e join there t on t.order_id = e.order_id and t.line_id = e.line_id and t.unit = e.unit
        group by e.order_id, e.line_id having sum(t.amount) <> min(e.amount)
        union all
        select order_id, line_id, format('unit %s is %s with %s of %s remaining', unit, status, remaining, amount)
        from there where status in ('disabled', 'limited') and remaining <> 0`,
    },
    {
      invariant: 'package_per_unit',
      requirement: 'C2',
      promise: "Every unit of a paid order's package lines is handed out once.",
      sql: `
        with ${perUnit('packages', `'package'`, 'status')}
        select coalesce(e.order_id, t.order_id) as order_id, coalesce(e.line_id, t.line_id) as line_id,
               format('unit %s: %s', coalesce(e.unit, t.unit), ${UNMATCHED}) as detail
        from expected e full join there t on t.order_id = e.order_id and t.line_id = e.line_id and t.unit = e.unit
        where e.order_id is null or t.order_id is null`,
    },
    {
      invariant: 'invoice_per_order',
      requirement: 'C2',
      promise:
        'Every paid order has one invoice over what was due, and no other order has one, nor one that was imported.',
      sql: `
        select o.id as order_id, format('%s with %s invoices over %s %s', o.status, coalesce(i.n, 0), coalesce(i.amount, 0), coalesce(i.currency, o.currency)) as detail
        from orders o
        left join (
          select order_id, count(*) as n, sum(amount) as amount, min(currency) as currency
          from invoices where kind = 'invoice' group by order_id) i on i.order_id = o.id
        where coalesce(i.n, 0) <> (o.status = 'paid' and o.imported_at is null)::int
           or o.status = 'paid' and o.imported_at is null and (i.amount is distinct from o.amount_due or i.currency is distinct from o.currency)`,
    },
    {
      invariant: 'loyalty_standing',
      requirement: 'C4',
      promise:
        'The loyalty points of an order add up to what the money kept earns, at the rate of the day it was paid; an imported one earns none here.',
      sql: `
        select o.id as order_id, format('%s points stand, %s are earned', coalesce(l.points, 0), s.points) as detail
        from orders o
        join (values ${exponents}) as e (currency, exponent) using (currency)
        cross join lateral (select case when o.status = 'paid' and o.imported_at is null then ${POINTS} else 0 end as points) s
        left join (select order_id, sum(points) as points from loyalty_entries group by order_id) l on l.order_id = o.id
        where coalesce(l.points, 0) <> s.points`,
    },
    {
      invariant: 'one_loyalty_earning',
      requirement: 'C4',
      promise:
        'An order earns once, keyed to the payment that completed it; every other entry names a refund of it, or a dispute.',
      sql: `
        select o.id as order_id, format('%s earnings, %s entries of other payments, refunds or disputes', count(*) filter (where l.refund_id is null),
                 count(*) filter (where l.payment_id is distinct from o.paid_payment_id or l.source is distinct from o.paid_source
                                     or l.refund_id is not null and c.payment_id is null)) as detail
        from loyalty_entries l
        join orders o on o.id = l.order_id
        left join refunds r on r.id = l.refund_id
        left join disputes d on ${NAMED_DISPUTE('l.refund_id')}
        left join order_payments c on c.source = coalesce(r.source, d.source) and c.payment_id = coalesce(r.payment_id, d.payment_id)
                                  and c.order_id = l.order_id
        group by o.id
        having count(*) filter (where l.refund_id is null) > 1
            or bool_or(l.payment_id is distinct from o.paid_payment_id or l.source is distinct from o.paid_source
                       or l.refund_id is not null and c.payment_id is null)`,
    },
    {
      invariant: 'stopped_with_full_refund',
      requirement: 'C4',
      promise:
        'Bookings, gift cards and packages stop exactly when refunds, and lost disputes that revoke, reach what was paid.',
      sql: `
        with ${STOPPABLE}, ${RETURNED}
        select s.order_id, s.line_id,
               format('%s unit %s is %s with %s of %s refunded and %s charged back', s.what, s.unit,
                      case when s.stopped then 'stopped' else 'active' end, o.amount_refunded, o.amount_paid, o.amount_charged_back) as detail
        from stoppable s
        join orders o on o.id = s.order_id
        left join refunds r on r.id = s.by
        left join disputes d on ${NAMED_DISPUTE('s.by')}
        where not s.stopped and o.status = 'paid' and o.amount_refunded + o.amount_charged_back >= o.amount_paid
           or s.stopped and (r.id is null and d.dispute_id is null or o.amount_refunded + o.amount_charged_back < o.amount_paid
                -- a lost dispute that was won after all, as a refund that the bank returned, gives nothing back by itself
                and not exists (select from state_transitions t
                                where t.machine = 'dispute' and t.from_status = 'lost' and t.to_status = 'won' and t.order_id = o.id)
                and not exists (select from returned b join refunds f on f.id = b.refund_id
                                join order_payments c on c.source = f.source and c.payment_id = f.payment_id
                                where c.order_id = o.id))`,
    },
    {
      invariant: 'credit_notes_of_an_order',
      requirement: 'C4',
      promise:
        'The credit notes of a paid order add up to its refunds beyond the surplus, one a refund of counted money at most.',
      sql: `
        with ${RETURNED}, gone as (
          select c.order_id, sum(r.amount) as amount
          from returned b join refunds r on r.id = b.refund_id
          join order_payments c on c.source = r.source and c.payment_id = r.payment_id group by c.order_id
        ), notes as (
          select i.order_id, sum(i.amount) as amount, count(*) filter (where c.payment_id is null or i.amount > r.amount) as astray
          from invoices i
          left join refunds r on r.id = i.refund_id
          left join order_payments c on c.source = r.source and c.payment_id = r.payment_id and c.order_id = i.order_id
          where i.kind = 'credit_note' group by i.order_id)
        select o.id as order_id, format('credit notes over %s, refunds beyond the surplus %s; %s notes without such a refund', coalesce(n.amount, 0), x.beyond, coalesce(n.astray, 0)) as detail
        from orders o
        left join notes n on n.order_id = o.id
        left join gone g on g.order_id = o.id
        cross join lateral (
          select case when o.status = 'paid' and o.imported_at is null
                      then greatest(0, o.amount_refunded - (o.amount_paid - o.amount_due)) else 0 end as beyond) x
        -- a refund that the bank returned keeps its note
        where coalesce(n.amount, 0) < x.beyond or coalesce(n.amount, 0) > x.beyond + coalesce(g.amount, 0) or n.astray > 0`,
    },
  ];
}

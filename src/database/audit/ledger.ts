import { encoded, RETURNED, type Check } from './check.ts';

const SIGNED = `case side when 'debit' then amount else -amount end`;

/** The books: balanced, whole, and in agreement with the orders, payments and refunds. */
export const LEDGER_CHECKS: readonly Check[] = [
  {
    invariant: 'posting_balanced',
    requirement: 'C2',
    promise: 'Every posting sums to zero in its currency.',
    sql: `
      select source_event_id as posting, min(source) as source, min(payment_id) as payment_id, min(order_id) as order_id,
             format('debits less credits are %s %s', sum(${SIGNED}), currency) as detail
      from ledger_entries group by source_event_id, currency having sum(${SIGNED}) <> 0`,
  },
  {
    invariant: 'ledger_balanced',
    requirement: 'C2',
    promise: 'All accounts together sum to zero in each currency.',
    sql: `
      select format('the accounts sum to %s %s', sum(${SIGNED}), currency) as detail
      from ledger_entries group by currency having sum(${SIGNED}) <> 0`,
  },
  {
    invariant: 'capture_posted_once',
    requirement: 'C2',
    promise:
      'Every captured payment that is decided or held stands in the books with its amount, and nothing else does.',
    sql: `
      with posted as (
        select source_event_id as posting, sum(${SIGNED}) as amount, min(currency) as currency
        from ledger_entries where source_event_id like 'captured:%' and account = 'gateway_receivable:' || source
        group by source_event_id
      ), due as (
        select source, payment_id, order_id, amount, currency, waiting_for, status = 'captured' and amount > 0 and currency is not null as captured,
               'captured:' || ${encoded('source')} || ':' || ${encoded('payment_id')} as posting
        from payments)
      select coalesce(d.posting, p.posting) as posting, d.source, d.payment_id, d.order_id,
             format('captured %s %s, posted %s %s', case when d.captured then d.amount end, d.currency, p.amount, p.currency) as detail
      from due d full join posted p on p.posting = d.posting
      where case when d.captured then (p.posting is null and d.waiting_for is distinct from 'order')
                                   or p.amount <> d.amount or p.currency <> d.currency
                 else p.posting is not null end`,
  },
  {
    invariant: 'refund_posted_once',
    requirement: 'C2',
    promise:
      'Every refund stands in the books as often as it succeeded, and the other way as often as the bank returned it; no other does.',
    sql: `
      with ${RETURNED}, lines as (
        select refund_id, source_event_id as key, ${SIGNED} as amount,
               split_part(source_event_id, ':', 1) || ':' || coalesce(refund_id, '') as posting
        from ledger_entries
        where (source_event_id like 'refunded:%' or source_event_id like 'refund_returned:%') and account = 'gateway_receivable:' || source
      ), posted as (
        select posting, count(distinct key) as times, -sum(amount) as amount,
               -- a new attempt after a return has its number behind it
               bool_or(not starts_with(key, posting) or substr(key, length(posting) + 1) !~ '^(#[0-9]+)?$') as astray
        from lines group by posting
      ), due as (
        select r.id, r.source, r.payment_id, r.order_id, 'refunded:' || r.id as posting, r.amount,
               coalesce(b.n, 0) + (r.status = 'succeeded')::int as times
        from refunds r left join returned b on b.refund_id = r.id
        union all
        select r.id, r.source, r.payment_id, r.order_id, 'refund_returned:' || r.id, -r.amount, b.n
        from refunds r join returned b on b.refund_id = r.id)
      select coalesce(d.posting, p.posting) as posting, d.id as refund_id, d.source, d.payment_id, d.order_id,
             format('%s times %s due, posted %s times, %s in all', coalesce(d.times, 0), d.amount, coalesce(p.times, 0), coalesce(p.amount, 0)) as detail
      from due d full join posted p on p.posting = d.posting
      where coalesce(p.times, 0) <> coalesce(d.times, 0) or coalesce(p.amount, 0) <> coalesce(d.times * d.amount, 0) or p.astray`,
  },
  {
    invariant: 'books_of_an_order',
    requirement: 'C2',
    promise:
      'Sales, refunds of sales and deposits of an order are what its amounts say; of an imported one, what has happened since.',
    sql: `
      with books as (
        select order_id, -sum(${SIGNED}) filter (where account = 'sales') as sales,
               sum(${SIGNED}) filter (where account = 'sales_refunds') as sales_refunds,
               -sum(${SIGNED}) filter (where account = 'customer_deposits') as deposits
        from ledger_entries where account in ('sales', 'sales_refunds', 'customer_deposits') group by order_id
      ), due as (
        select id, status = 'paid' as paid, imported_at is not null as imported, imported_refunded, amount_due, amount_paid, amount_refunded, amount_paid - amount_due as surplus from orders
      ), expected as (
        select id, case when paid and not imported then amount_due else 0 end as sales,
               case when paid then greatest(0, amount_refunded - surplus - imported_refunded) else 0 end as sales_refunds,
               case when paid then greatest(0, surplus - amount_refunded) else amount_paid - amount_refunded end as deposits
        from due)
      select coalesce(e.id, b.order_id) as order_id,
             format('sales %s, refunds of sales %s, deposits %s; expected %s, %s, %s', coalesce(b.sales, 0), coalesce(b.sales_refunds, 0),
                    coalesce(b.deposits, 0), e.sales, e.sales_refunds, e.deposits) as detail
      from expected e full join books b on b.order_id = e.id
      where (coalesce(b.sales, 0), coalesce(b.sales_refunds, 0), coalesce(b.deposits, 0))
            is distinct from (e.sales, e.sales_refunds, e.deposits)`,
  },
  {
    invariant: 'owed_back_and_unallocated',
    requirement: 'C2',
    promise: 'What the books owe back for extra and late captures is what was captured of them and not yet refunded.',
    sql: `
      with books as (
        select source, payment_id, -sum(${SIGNED}) filter (where account = 'refunds_payable') as payable,
               -sum(${SIGNED}) filter (where account = 'unallocated') as unallocated
        from ledger_entries where account in ('refunds_payable', 'unallocated') group by source, payment_id
      ), expected as (
        select p.source, p.payment_id, p.order_id,
               case when r.id is not null then p.amount - p.amount_refunded else 0 end as payable,
               case when r.id is null and p.outcome = 'held_for_review' and p.amount > 0 and p.currency is not null
                    then p.amount - p.amount_refunded else 0 end as unallocated
        from payments p
        left join order_payments c on c.source = p.source and c.payment_id = p.payment_id
        left join refunds r on r.source = p.source and r.payment_id = p.payment_id and r.kind in ('extra_capture', 'late_capture')
        where p.status = 'captured' and c.payment_id is null and p.waiting_for is null)
      select coalesce(e.source, b.source) as source, coalesce(e.payment_id, b.payment_id) as payment_id, e.order_id,
             format('owed back %s, unallocated %s; expected %s, %s', coalesce(b.payable, 0), coalesce(b.unallocated, 0),
                    coalesce(e.payable, 0), coalesce(e.unallocated, 0)) as detail
      from expected e full join books b on b.source = e.source and b.payment_id = e.payment_id
      where (coalesce(b.payable, 0), coalesce(b.unallocated, 0)) is distinct from (coalesce(e.payable, 0), coalesce(e.unallocated, 0))
        and not exists (select from payments w where w.source = b.source and w.payment_id = b.payment_id and w.waiting_for = 'order')`,
  },
];

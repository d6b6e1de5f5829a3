import { REVIVED, STUCK_AFTER, type Check } from './check.ts';

/** What an order says of itself, against the payments and refunds that it says it of. */
export const ORDER_CHECKS: readonly Check[] = [
  {
    invariant: 'order_amount_paid',
    requirement: 'B2',
    promise: "An order's amount_paid is the sum of the payments that count for it.",
    sql: `
      select o.id as order_id, format('amount_paid is %s, the counted payments add up to %s', o.amount_paid, coalesce(c.amount, 0)) as detail
      from orders o
      left join (select order_id, sum(amount) as amount from order_payments group by order_id) c on c.order_id = o.id
      where o.amount_paid <> coalesce(c.amount, 0)`,
  },
  {
    invariant: 'order_amount_refunded',
    requirement: 'C4',
    promise: "An order's amount_refunded is the sum of the refunds of its counted payments that stand succeeded.",
    sql: `
      select o.id as order_id, format('amount_refunded is %s, the refunds add up to %s', o.amount_refunded, coalesce(r.amount, 0)) as detail
      from orders o
      left join (
        select c.order_id, sum(r.amount) as amount
        from refunds r join order_payments c using (source, payment_id)
        where r.status = 'succeeded' group by c.order_id) r on r.order_id = o.id
      where o.amount_refunded <> coalesce(r.amount, 0)`,
  },
  {
    invariant: 'order_status_follows_amount',
    requirement: 'B2',
    promise:
      'An order is paid exactly if its counted captures reach what is due, and partly paid exactly if they do not yet.',
    sql: `
      select id as order_id, format('%s with %s of %s paid', status, amount_paid, amount_due) as detail
      from orders
      where (status = 'paid') <> (amount_paid >= amount_due)
         or (status = 'partially_paid') <> (amount_paid > 0 and amount_paid < amount_due and status not in ('cancelled', 'expired'))`,
  },
  {
    invariant: 'order_paid_by_one_payment',
    requirement: 'B2',
    promise: 'A paid order names the one counted payment that completed it; an order that is not paid names none.',
    sql: `
      select o.id as order_id, format('%s, completed by %s payments, names %s', o.status, coalesce(c.completing, 0),
                                      coalesce(o.paid_source || ':' || o.paid_payment_id, 'none')) as detail
      from orders o
      left join (
        select order_id, count(*) filter (where outcome = 'marked_paid') as completing from order_payments group by order_id
      ) c on c.order_id = o.id
      left join order_payments p on p.source = o.paid_source and p.payment_id = o.paid_payment_id
                                and p.order_id = o.id and p.outcome = 'marked_paid'
      where case when o.status = 'paid' then coalesce(c.completing, 0) <> 1 or p.payment_id is null or o.paid_at is null
                 else coalesce(c.completing, 0) <> 0 or o.paid_payment_id is not null or o.paid_at is not null end`,
  },
  {
    invariant: 'no_payment_counts_beyond_paid',
    requirement: 'B2',
    promise: 'No payment counts for an order that was paid without it: such a capture is extra.',
    sql: `
      select o.id as order_id, format('the payments before the completing one add up to %s of %s due', sum(c.amount), o.amount_due) as detail
      from orders o join order_payments c on c.order_id = o.id and c.outcome = 'partially_paid'
      group by o.id having sum(c.amount) >= o.amount_due`,
  },
  {
    invariant: 'unpaid_order_follows_payments',
    requirement: 'B6',
    promise: 'An order that nothing was captured for is under way, failed for good, or open, as its payments are.',
    sql: `
      with known as (
        select order_id, count(*) filter (where status in ('pending', 'authorized')) as open,
               -- the payment of a charge is known before its first look, which is what the order follows
               count(*) filter (where status = 'pending' and reference like 'charge:%' and updated_at > now() - ${STUCK_AFTER}) as placed,
               count(*) filter (where status in ('failed', 'expired')) as over,
               count(*) filter (where status = 'captured') as captured
        from payments where order_id is not null group by order_id)
      select o.id as order_id, format('%s with %s open and %s failed or expired payments', o.status, coalesce(p.open, 0), coalesce(p.over, 0)) as detail
      from orders o left join known p on p.order_id = o.id
      where o.status in ('pending_payment', 'payment_pending', 'failed_final') and coalesce(p.captured, 0) = 0
        and o.status <> case when p.open > 0 then 'payment_pending' when p.over > 0 then 'failed_final' else 'pending_payment' end
        and (coalesce(p.placed, 0) = 0
             or o.status <> case when p.open > p.placed then 'payment_pending' when p.over > 0 then 'failed_final' else 'pending_payment' end)`,
  },
  {
    invariant: 'order_expires_in_time',
    requirement: 'B6',
    promise: 'An order that is not paid expires within an hour after its time, unless a person revived it.',
    sql: `
      with ${REVIVED}
      select id as order_id, format('%s, and it should have expired at %s', status, expires_at) as detail
      from orders
      where status in ('pending_payment', 'payment_pending', 'partially_paid', 'failed_final')
        and expires_at < now() - ${STUCK_AFTER}
        and id not in (select order_id from revived)`,
  },
  {
    invariant: 'checkouts_of_an_order',
    requirement: 'E4',
    promise: 'The checkouts of an order are numbered without gaps, and each that succeeded has its payment.',
    sql: `
      select o.id as order_id, format('%s checkouts, the last is number %s, the order counts %s; %s without their payment',
                                      coalesce(c.n, 0), coalesce(c.last, 0), o.checkout_count, coalesce(c.unpaid, 0)) as detail
      from orders o
      left join (
        select c.order_id, count(*) as n, max(c.n) as last,
               count(*) filter (where c.status = 'succeeded' and p.payment_id is null) as unpaid
        from checkouts c left join payments p on p.source = c.source and p.payment_id = c.payment_id
        group by c.order_id) c on c.order_id = o.id
      where o.checkout_count <> coalesce(c.n, 0) or o.checkout_count <> coalesce(c.last, 0) or c.unpaid > 0`,
  },
];

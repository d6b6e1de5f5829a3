import { CAPTURED, CREDITS, encoded, STUCK_AFTER, type Check } from './check.ts';

/** Every captured payment has one fate, and what says so agrees. */
export const PAYMENT_CHECKS: readonly Check[] = [
  {
    invariant: 'captured_payment_has_one_fate',
    requirement: 'B3',
    promise:
      'Every captured payment is counted, or fills a wallet, or is given back, or is before a human, or waits for its order: never two of these, never none.',
    sql: `
      with ${CAPTURED}
      select order_id, source, payment_id,
             case when counted and credited then 'it counts for an order, and fills a wallet'
                  when credited and automatic is not null then 'it fills a wallet, and is given back'
                  when credited then format('it fills a wallet, and is for an %s', purpose)
                  when counted then 'it counts, and is given back as extra'
                  when automatic is not null then format('it is given back as %s, and its order is %s', automatic, coalesce(order_status, 'not there'))
                  else format('it is neither counted, in a wallet, given back, before a human, nor waiting; its outcome is %s', coalesce(outcome, 'none'))
             end as detail
      from captured
      where counted and automatic = 'extra_capture'
         or credited and (counted or automatic is not null or purpose <> 'top_up')
         or automatic = 'extra_capture' and order_status is distinct from 'paid'
         -- a person may send any held payment back, and may revive the order that another payment came too late for
         or automatic = 'late_capture' and coalesce(order_status, '') not in ('cancelled', 'expired')
            and not revived and not refunded_by_a_person
         or not counted and not credited and automatic is null and waiting_for is distinct from 'order'
            and not (outcome = 'held_for_review' and before_a_human)`,
  },
  {
    invariant: 'partial_payment_of_an_ended_order',
    requirement: 'B6',
    promise: 'What counts for an order that was cancelled or expired is given back once, or before a human.',
    sql: `
      with ${CAPTURED}
      select order_id, source, payment_id, format('its order is %s, and nothing gives it back', order_status) as detail
      from captured
      where counted and order_status in ('cancelled', 'expired') and automatic is null and not before_a_human`,
  },
  {
    invariant: 'counted_payment_is_captured',
    requirement: 'B2',
    promise:
      'Only captured payments count or are given back by the machine, with their own amount, order and currency.',
    sql: `
      select t.order_id, t.source, t.payment_id,
             format('%s %s; the payment is %s, %s %s for order %s', t.what, t.amount, coalesce(p.status, 'unknown'), p.amount, p.currency,
                    coalesce(p.order_id, 'none')) as detail
      from (
        select 'counted with' as what, c.order_id, c.source, c.payment_id, c.amount, o.currency, true as whole
        from order_payments c join orders o on o.id = c.order_id
        union all
        select 'given back with', order_id, source, payment_id, amount, currency, false
        from refunds where kind in ('extra_capture', 'late_capture')
      ) t
      left join payments p on p.source = t.source and p.payment_id = t.payment_id
      where p.status is distinct from 'captured' or p.currency is distinct from t.currency
         -- what a person gives back may name an order that never came
         or p.order_id is distinct from t.order_id and (t.whole or t.order_id is not null) or t.whole and p.amount is distinct from t.amount`,
  },
  {
    invariant: 'payment_outcome',
    requirement: 'B2',
    promise: "A payment's outcome says what became of it: counted, in a wallet, extra, or too late.",
    sql: `
      with ${CAPTURED}
      select c.order_id, c.source, c.payment_id, format('its outcome is %s', coalesce(c.outcome, 'none')) as detail
      from captured c left join order_payments p on p.source = c.source and p.payment_id = c.payment_id
      where counted and c.outcome is distinct from p.outcome
         or credited and c.outcome is distinct from 'marked_paid'
         or not counted and automatic = 'extra_capture' and c.outcome is distinct from 'extra_payment'
         or not counted and automatic = 'late_capture' and c.outcome is distinct from 'not_payable'`,
  },
  {
    invariant: 'one_winner',
    requirement: 'B3',
    promise:
      'Of all events of a payment at most one hears that it marked the order paid or filled the wallet, and of an order it is the one that counted the payment.',
    sql: `
      with ${CREDITS}
      select e.source, e.payment_id, min(e.order_id) as order_id, min(e.event_id) as event_id,
             format('%s events won; counted by %s', count(*), coalesce(min(c.counted_by), 'nobody')) as detail
      from webhook_events e
      left join order_payments c on c.source = e.source and c.payment_id = e.payment_id
      left join credits w on w.source = e.source and w.payment_id = e.payment_id
      where e.outcome in ('marked_paid', 'partially_paid')
      group by e.source, e.payment_id
      having count(*) > 1 or min(c.counted_by) is null and min(w.n) is null
          or bool_or(c.counted_by <> ${encoded('e.source')} || ':' || ${encoded('e.event_id')} or c.outcome <> e.outcome)`,
  },
  {
    invariant: 'payment_amount_refunded',
    requirement: 'E6',
    promise: "A payment's amount_refunded is the sum of its refunds that stand succeeded.",
    sql: `
      select p.order_id, p.source, p.payment_id,
             format('amount_refunded is %s, the refunds add up to %s', p.amount_refunded, coalesce(r.amount, 0)) as detail
      from payments p
      left join (
        select source, payment_id, sum(amount) as amount from refunds where status = 'succeeded' group by source, payment_id
      ) r on r.source = p.source and r.payment_id = p.payment_id
      where p.amount_refunded <> coalesce(r.amount, 0)`,
  },
  {
    invariant: 'payment_finds_its_order',
    requirement: 'B7',
    promise: 'A captured payment does not go on waiting once its order is there.',
    sql: `
      select p.order_id, p.source, p.payment_id, format('its order was created at %s', o.created_at) as detail
      from payments p join orders o on o.id = p.order_id
      where p.waiting_for = 'order' and greatest(o.created_at, p.updated_at) < now() - ${STUCK_AFTER}`,
  },
];

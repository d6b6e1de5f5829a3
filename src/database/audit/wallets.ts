import { encoded, type Check } from './check.ts';

/** What customers hold in wallets: each entry has its cause, stands in the books, and together they are the balance. */
export const WALLET_CHECKS: readonly Check[] = [
  {
    invariant: 'wallet_balance',
    requirement: 'C2',
    promise: "A wallet's balance is the sum of its entries, all of them in its currency.",
    sql: `
      select coalesce(w.id, e.wallet_id) as wallet_id,
             format('the balance is %s %s, the entries add up to %s %s', w.balance, w.currency, coalesce(e.amount, 0), e.currency) as detail
      from wallets w
      full join (select wallet_id, currency, sum(amount) as amount from wallet_entries group by wallet_id, currency) e on e.wallet_id = w.id
      where w.id is null or w.balance <> coalesce(e.amount, 0) or e.currency <> w.currency`,
  },
  {
    invariant: 'wallets_account',
    requirement: 'C2',
    promise: 'What the books owe to wallets is what the wallets hold, in each currency.',
    sql: `
      select format('the books owe %s %s, the wallets hold %s', coalesce(b.amount, 0), coalesce(w.currency, b.currency), coalesce(w.amount, 0)) as detail
      from (select currency, sum(balance) as amount from wallets group by currency) w
      full join (
        select currency, sum(case side when 'credit' then amount else -amount end) as amount
        from ledger_entries where account = 'wallets' group by currency) b on b.currency = w.currency
      where coalesce(b.amount, 0) <> coalesce(w.amount, 0)`,
  },
  {
    invariant: 'wallet_entry_is_posted',
    requirement: 'C2',
    promise:
      'Every entry of a wallet stands in the books under its own key, with its amount, and nothing else is owed to wallets.',
    sql: `
      with posted as (
        select source_event_id, min(source) as source, min(payment_id) as payment_id, min(currency) as currency,
               sum(case side when 'credit' then amount else -amount end) as amount
        from ledger_entries where account = 'wallets' group by source_event_id)
      select e.wallet_id, coalesce(e.source_event_id, p.source_event_id) as posting, coalesce(e.source, p.source) as source,
             coalesce(e.payment_id, p.payment_id) as payment_id, e.refund_id,
             format('the entry is %s %s, the posting %s %s', e.amount, e.currency, p.amount, p.currency) as detail
      from wallet_entries e full join posted p on p.source_event_id = e.source_event_id
      where e.amount is distinct from p.amount or e.currency is distinct from p.currency`,
  },
  {
    invariant: 'top_up_credited_once',
    requirement: 'C2',
    promise:
      "A wallet is credited once for each captured payment of its top-ups, by that payment's amount; nothing else fills it.",
    sql: `
      with credits as (
        select source, payment_id, min(wallet_id) as wallet_id, count(*) as n, sum(amount) as amount, min(currency) as currency,
               bool_and(source_event_id = 'captured:' || ${encoded('source')} || ':' || ${encoded('payment_id')}) as keyed
        from wallet_entries where refund_id is null group by source, payment_id
      ), due as (
        select p.source, p.payment_id, p.amount, p.currency, t.id, t.wallet_id
        from payments p
        left join top_ups t on t.source = p.source and t.payment_id = p.payment_id and t.reference = p.reference
        where p.purpose = 'top_up' and p.status = 'captured' and p.outcome = 'marked_paid')
      select d.id as top_up_id, coalesce(d.wallet_id, c.wallet_id) as wallet_id, coalesce(d.source, c.source) as source,
             coalesce(d.payment_id, c.payment_id) as payment_id,
             format('captured %s %s, credited %s times, %s %s in all', d.amount, d.currency, coalesce(c.n, 0), coalesce(c.amount, 0), c.currency) as detail
      from due d full join credits c on c.source = d.source and c.payment_id = d.payment_id
      where d.id is null or c.n is distinct from 1 or c.amount <> d.amount or c.currency <> d.currency
         or c.wallet_id <> d.wallet_id or not c.keyed`,
  },
  {
    invariant: 'wallet_debit_is_a_refund',
    requirement: 'C4',
    promise:
      'Whatever left a wallet left it by a succeeded refund of what had filled it, or by a lost dispute of that which revokes, and no more than these; one that the bank returned, or that was won, took nothing.',
    sql: `
      with moved as (
        select refund_id, min(wallet_id) as wallet_id, min(source) as source, min(payment_id) as payment_id, sum(amount) as amount,
               bool_and(sign(amount) = case when source_event_id ~ '^(refunded|dispute_revoked):' then -1 when source_event_id ~ '^(refund_returned|dispute_restored):' then 1 end) as signed
        from wallet_entries where refund_id is not null or amount < 0 group by refund_id
      ), filled as (
        select distinct wallet_id, source, payment_id from wallet_entries where refund_id is null and amount > 0)
      select m.wallet_id, m.source, m.payment_id, m.refund_id,
             format('%s moved by a refund or dispute of %s that is %s', m.amount, coalesce(r.amount, d.charged_back, 0),
                    coalesce(r.status, d.status, 'not there')) as detail
      from moved m
      left join refunds r on r.id = m.refund_id and r.source = m.source and r.payment_id = m.payment_id
      left join disputes d on m.refund_id = 'dispute:' || ${encoded('d.source')} || ':' || ${encoded('d.dispute_id')}
        and d.source = m.source and d.payment_id = m.payment_id
      left join filled f on f.wallet_id = m.wallet_id and f.source = m.source and f.payment_id = m.payment_id
      where r.id is null and d.dispute_id is null or f.wallet_id is null or m.signed is not true
         or m.amount > 0 or -m.amount > coalesce(r.amount, d.charged_back) or r.status <> 'succeeded' and m.amount <> 0`,
  },
];

import type { End } from './read-ends.ts';

interface Row {
  readonly [column: string]: any;
}

/** What holds in every order of delivery, also across several payments of one order (B2, B3): the breaches of it. */
export function breachesOfRules(end: End): string[] {
  const rows = (table: string): Row[] => (end[table] ?? []).map((row) => JSON.parse(row) as Row);
  const breaches: string[] = [];
  const must = (holds: boolean, promise: string) => {
    if (!holds) breaches.push(promise);
  };
  const counted = rows('order_payments');
  const sum = counted.reduce((total, row) => total + Number(row['amount']), 0);
  for (const order of rows('orders')) {
    const over = order['status'] === 'cancelled' || order['status'] === 'expired';
    must(
      over || (order['status'] === 'paid') === sum >= order['amount_due'],
      'paid exactly if the counted captures reach what is due',
    );
    must(order['amount_paid'] === sum, 'amount_paid is what counts');
    must(
      over || (order['status'] === 'partially_paid') === (sum > 0 && sum < order['amount_due']),
      'partially paid in between',
    );
    const paid = order['status'] === 'paid';
    const announced = rows('announced');
    must(
      announced.filter((row) => row['event_type'] === 'order.paid').length === Number(paid),
      'announced as paid once, if it is',
    );
    must(
      announced.every((row) => row['n'] === 1),
      'announced once each',
    );
    must(
      rows('invoices').filter((row) => row['kind'] === 'invoice').length === Number(paid),
      'one invoice, if it is paid',
    );
    must(
      rows('earnings').every((row) => row['n'] === 1),
      'points are earned once',
    );
    if (over)
      must(
        order['amount_paid'] === order['amount_refunded'] || rows('dead_letters').length > 0,
        'all of it went back, or a person is asked',
      );
  }
  const ended = rows('orders').some((order) => order['status'] === 'cancelled' || order['status'] === 'expired');
  for (const payment of rows('payments').filter((row) => row['status'] === 'captured' && row['purpose'] === 'order')) {
    const id = payment['payment_id'] as string;
    const same = (row: Row) => row['payment_id'] === id && row['source'] === payment['source'];
    const counts = counted.filter(same).length;
    const automatic = rows('refunds').filter(
      (row) => same(row) && /^(extra|late)_capture$/.test(row['kind'] as string),
    );
    const back = automatic.length;
    const held = payment['outcome'] === 'held_for_review' ? 1 : 0;
    must(
      counts + held + (ended && counts === 1 ? 0 : back) === 1,
      `${id} is counted, or given back, or held: never two of these, never none`,
    );
    // What is owed back is back, whoever sent it.
    const refunds = rows('refunds').filter((row) => same(row) && row['status'] === 'succeeded');
    const total = refunds.reduce((all, row) => all + Number(row['amount']), 0);
    if (back === 1) must(total === payment['amount'], `${id} went back whole, and no more`);
    must(total <= payment['amount'], `${id} never gave back more than was captured`);
  }
  must(
    rows('events').every((row) => row['state'] !== 'pending'),
    'nothing waits',
  );
  return breaches;
}

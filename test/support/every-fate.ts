import { paymentEvent, type System } from './system.ts';

/** A payment at the gateway, and its webhook, which comes more than once, as in life; answers its id. */
export async function payAndTell(
  system: System,
  orderId: string,
  which: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const paymentId = `pay_${orderId}_${which}`;
  await system.pay(paymentId, orderId, more);
  const { status: _status, ...told } = more;
  const event = paymentEvent(paymentId, orderId, told);
  await system.deliver(event, { id: `evt_${paymentId}` });
  await system.deliver(event, { id: `evt_${paymentId}` });
  await system.deliver(event, { id: `evt_${paymentId}_again` });
  return paymentId;
}

/** Orders, payments and events of every fate that there is, up to where the machine does no more by itself. */
export async function liveEveryFate(system: System): Promise<void> {
  const pay = (orderId: string, which: string, more?: Record<string, unknown>) =>
    payAndTell(system, orderId, which, more);
  const lines = [
    { id: 'room', kind: 'booking', amount: 5_000 },
    { id: 'card', kind: 'gift_card', amount: 3_000, quantity: 2 },
    { id: 'pack', kind: 'package', amount: 2_000 },
  ];
  for (const id of ['paid', 'extra', 'refunded', 'parts', 'surplus', 'disputed']) await system.order({ id, lines });
  await pay('paid', 'one');
  for (const which of ['one', 'two', 'three']) await pay('extra', which);
  for (const [which, amount] of [
    ['one', 4_000],
    ['two', 6_000],
  ] as const)
    await pay('parts', which, { amount });
  await pay('surplus', 'one', { amount: 12_000 });
  const refunded = await pay('refunded', 'one');
  const disputed = await pay('disputed', 'one');
  for (const id of ['paid', 'extra', 'refunded', 'parts', 'surplus', 'disputed'])
    await system.orderIs(id, { status: 'paid' });
  for (const amount of [2_000, 8_000])
    await system.control('POST', '/refunds', { payment_id: refunded, amount, times: 3 });
  await system.control('POST', '/disputes', { payment_id: disputed, dispute_id: 'dp_1', status: 'opened', times: 2 });
  await system.order({ id: 'late' });
  await system.call('POST', '/v1/orders/late/cancel');
  await pay('late', 'one');
  await system.order({ id: 'partly' });
  await pay('partly', 'one', { amount: 4_000 });
  await system.orderIs('partly', { status: 'partially_paid' });
  await system.call('POST', '/v1/orders/partly/cancel');
  await system.order({ id: 'foreign' });
  await pay('foreign', 'one', { currency: 'USD' });
  await system.order({ id: 'silent' });
  await pay('silent', 'one', { amount: null });
  // The event claims what the gateway does not show: it waits for the gateway.
  await system.order({ id: 'claimed' });
  await pay('claimed', 'one', { status: 'pending' });
  // Its order is not there yet: it waits for that.
  await pay('early', 'one');
  await system.pay('pay_nameless', null);
  await system.deliver(paymentEvent('pay_nameless', null), { id: 'evt_nameless' });
  await system.deliver(paymentEvent('pay_x', 'ord_x', { type: 'customer.created' }), { id: 'evt_ignored' });
  await system.deliver('{"type":', { id: 'evt_unreadable' });
  await system.control('POST', '/drain');
  await system.orderIs('disputed', { disputed: true });
  await system.orderIs('refunded', { amount_refunded: 10_000 });
  await system.settled();
}

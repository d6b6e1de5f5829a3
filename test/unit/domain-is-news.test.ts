import { describe, expect, it } from 'vitest';
import type { AdmittedEvent } from '../../src/domain/admit-event.ts';
import { isNews, type KnownStates } from '../../src/domain/is-news.ts';

const NOTHING: KnownStates = {
  payment: null,
  refund: null,
  dispute: null,
  withheld: null,
  payout: null,
  claimed: false,
};

function event(
  subject: AdmittedEvent['subject'],
  claimed: AdmittedEvent['claimed'],
  more: Partial<AdmittedEvent> = {},
): AdmittedEvent {
  return {
    ...{
      eventId: 'evt_1',
      eventType: 'x',
      state: 'pending',
      reason: null,
      subject,
      objectId: 'o_1',
      paymentId: 'pay_1',
    },
    ...{ orderId: null, claimed, reference: null, amount: null, currency: null, fee: null, withheld: null },
    occurredAt: null,
    ...more,
  };
}

describe('what happened at the gateway', () => {
  it.each([
    ['a payment that is not known', event('payment', 'captured'), {}],
    ['a capture of a payment that was authorised', event('payment', 'captured'), { payment: 'authorized' }],
    ['a capture after a failure', event('payment', 'captured'), { payment: 'failed' }],
    ['a failure of a payment that was pending', event('payment', 'failed'), { payment: 'pending' }],
    ['an authorization after a failure', event('payment', 'authorized'), { payment: 'failed' }],
    ['a refund that is not known', event('refund', 'pending'), { payment: 'captured' }],
    ['a refund that has succeeded since', event('refund', 'succeeded'), { refund: 'pending' }],
    ['a refund in doubt that has succeeded', event('refund', 'succeeded'), { refund: 'unknown' }],
    ['a refund that came back', event('refund', 'failed'), { refund: 'succeeded' }],
    ['a hint about refunds of a payment that is not known', event('refund', null), {}],
    ['a dispute that is not known', event('dispute', 'opened'), { payment: 'captured' }],
    ['the end of a dispute', event('dispute', 'lost'), { dispute: 'opened' }],
    [
      'that the money of an inquiry has gone, though it stays open',
      event('dispute', 'opened', { withheld: true }),
      { dispute: 'opened', withheld: false, claimed: true },
    ],
    ['a payout of ours that was paid', event('payout', 'paid'), { payout: 'pending' }],
    ['a payout of ours that came back', event('payout', 'failed'), { payout: 'succeeded' }],
    ['a payout under our reference', event('payout', 'paid', { reference: 'payout:s:2026-11-30' }), {}],
    ['what cannot be understood', event(null, null, { state: 'held' }), {}],
  ] as const)('is news: %s', (_what, happened, known) => {
    expect(isNews(happened, { ...NOTHING, ...known })).toBe(true);
  });

  it.each([
    ['a payment in the same state', event('payment', 'captured'), { payment: 'captured' }],
    ['a failure of a payment that was captured', event('payment', 'failed'), { payment: 'captured' }],
    ['an authorization of a payment that was captured', event('payment', 'authorized'), { payment: 'captured' }],
    ['a payment of which another event says the same, and waits', event('payment', 'captured'), { claimed: true }],
    ['a refund in the same state', event('refund', 'succeeded'), { refund: 'succeeded' }],
    ['the beginning of a refund that has failed', event('refund', 'pending'), { refund: 'failed' }],
    ['the beginning of a refund in doubt', event('refund', 'pending'), { refund: 'unknown' }],
    ['a hint about refunds of a payment that is known', event('refund', null), { payment: 'captured' }],
    ['the beginning of a dispute that is over', event('dispute', 'opened'), { dispute: 'won' }],
    [
      'that the money has gone of a dispute which withholds it',
      event('dispute', 'opened', { withheld: true }),
      { dispute: 'opened', withheld: true },
    ],
    [
      'an inquiry that is known and takes nothing',
      event('dispute', 'opened', { withheld: false }),
      { dispute: 'opened', withheld: false },
    ],
    [
      'a dispute of which the event does not tell whether its money is kept back',
      event('dispute', 'opened', { withheld: null }),
      { dispute: 'opened', withheld: false },
    ],
    ['a payout that was paid', event('payout', 'paid'), { payout: 'succeeded' }],
    ["the gateway's own payout", event('payout', 'paid'), {}],
    ['what means nothing here', event(null, null, { state: 'ignored' }), {}],
  ] as const)('is no news: %s', (_what, happened, known) => {
    expect(isNews(happened, { ...NOTHING, ...known })).toBe(false);
  });
});

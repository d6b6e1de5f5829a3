import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PaymentFacts, RefundFacts } from '../../src/domain/gateway-facts.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../src/domain/payment-states.ts';
import type { GatewayRefundStatus } from '../../src/domain/refund-states.ts';
import { sortEvents, type SortableEvent } from '../../src/domain/sort-events.ts';

const facts = (more: Partial<PaymentFacts> = {}): PaymentFacts => ({
  ...{ paymentId: 'pay_1', orderId: 'ord_1', reference: null, status: 'captured', amount: 10_000n, currency: 'EUR' },
  ...{ amountRefunded: 0n, mode: 'test' },
  ...more,
});
const refund = (refundId: string, status: GatewayRefundStatus): RefundFacts => ({
  ...{ refundId, paymentId: 'pay_1', amount: 1n, currency: 'EUR', status, reference: null, failureCode: null },
});
const event = (eventId: string, more: Partial<SortableEvent> = {}): SortableEvent => ({
  ...{ eventId, subject: 'payment', objectId: 'pay_1', orderId: 'ord_1', claimed: 'captured' },
  ...more,
});

type Input = Parameters<typeof sortEvents>[0];
const sorted = (input: Partial<Input>) =>
  sortEvents({
    ...{ source: 'sim', mode: 'test', events: [], callers: [], facts: facts(), refunds: null, disputes: null },
    ...input,
  });
const ids = (events: readonly SortableEvent[]) => events.map((e) => e.eventId);

describe('events of a payment', () => {
  it('that the fetch covers are settled, and those that claim more wait', () => {
    const events = [event('evt_p', { claimed: 'pending' }), event('evt_c'), event('evt_n', { claimed: null })];
    const captured = sorted({ events });
    expect(ids(captured.settled)).toEqual(['evt_p', 'evt_c', 'evt_n']);
    expect(captured.claimingMore).toEqual([]);
    const pending = sorted({ events, facts: facts({ status: 'pending' }) });
    expect(ids(pending.settled)).toEqual(['evt_p', 'evt_n']);
    expect(ids(pending.claimingMore)).toEqual(['evt_c']);
  });

  it('all wait while the gateway does not know the payment', () => {
    const subjects = ['payment', 'refund', 'dispute', 'payout', null] as const;
    const events = subjects.map((subject, i) => event(`evt_${i}`, { subject, claimed: null }));
    const result = sorted({ events, facts: null });
    expect(result.settled).toEqual([]);
    expect(ids(result.claimingMore)).toEqual(ids(events));
    expect(result.claimants).toEqual([]);
  });

  it('may win in this order: those that say just this, callers, those that are old news', () => {
    const events = [
      event('evt_old', { claimed: 'pending' }),
      event('evt_exact'),
      event('evt_id_only', { claimed: null }),
    ];
    const { claimants } = sorted({ events, callers: ['confirm:1', 'confirm:2'] });
    expect(claimants.map((c) => c.cause)).toEqual([
      'sim:evt_exact',
      'sim:evt_id_only',
      'confirm:1',
      'confirm:2',
      'sim:evt_old',
    ]);
    expect(claimants.map((c) => c.event?.eventId ?? null)).toEqual(['evt_exact', 'evt_id_only', null, null, 'evt_old']);
  });

  it('about its refunds and disputes never win what the payment is', () => {
    const events = [
      event('evt_r', { subject: 'refund', objectId: 'rf_1', claimed: 'succeeded' }),
      event('evt_d', { subject: 'dispute', objectId: 'dp_1', claimed: 'opened' }),
    ];
    const result = sorted({ events, refunds: [refund('rf_1', 'succeeded')] });
    expect(ids(result.settled)).toEqual(['evt_r', 'evt_d']);
    expect(result.claimants).toEqual([]);
  });
});

describe('an event about a refund', () => {
  const about = (claimed: GatewayRefundStatus | null, objectId: string | null = 'rf_1') => [
    event('evt_r', { subject: 'refund', objectId, claimed }),
  ];
  const isSettled = (input: Partial<Input>) => sorted(input).settled.length === 1;

  it('is weighed against that refund, and waits while the gateway does not list it', () => {
    const events = about('succeeded');
    expect(isSettled({ events, refunds: [refund('rf_2', 'succeeded')] })).toBe(false);
    expect(isSettled({ events, refunds: [] })).toBe(false);
    expect(isSettled({ events, refunds: null })).toBe(false);
    expect(isSettled({ events, refunds: [refund('rf_1', 'pending')] })).toBe(false);
    expect(isSettled({ events, refunds: [refund('rf_1', 'succeeded')] })).toBe(true);
    expect(isSettled({ events, refunds: [refund('rf_1', 'failed')] })).toBe(true);
  });

  it('waits for the capture that it tells of', () => {
    const refunds = [refund('rf_1', 'succeeded')];
    for (const status of PAYMENT_STATUSES) {
      expect(isSettled({ events: about('succeeded'), refunds, facts: facts({ status }) })).toBe(status === 'captured');
    }
  });

  it('that names no refund is covered by the list as a whole', () => {
    expect(isSettled({ events: about('succeeded', null), refunds: [] })).toBe(true);
  });
});

describe('an event that names another order than the gateway does', () => {
  const odd = event('evt_odd', { orderId: 'ord_2' });

  it('goes before a person with a sentence that names both, and wins nothing', () => {
    const result = sorted({ events: [odd] });
    expect(result.conflicting).toHaveLength(1);
    expect(result.conflicting[0]).toMatchObject({ event: odd, deadLetter: true });
    expect(result.conflicting[0]?.reason).toMatch(/ord_2.*ord_1/);
    expect(result.settled).toEqual([]);
    expect(result.claimants).toEqual([]);
  });

  it('alone changes nothing; beside another event or a caller it keeps neither from being applied', () => {
    expect(sorted({ events: [odd] }).mayApply).toBe(false);
    expect(sorted({ events: [odd, event('evt_1')] }).mayApply).toBe(true);
    expect(sorted({ events: [odd], callers: ['confirm:1'] }).mayApply).toBe(true);
    expect(sorted({ events: [] }).mayApply).toBe(true);
  });

  it('is none while either of them names no order', () => {
    expect(sorted({ events: [odd], facts: facts({ orderId: null }) }).conflicting).toEqual([]);
    expect(sorted({ events: [event('evt_1', { orderId: null })] }).conflicting).toEqual([]);
    expect(sorted({ events: [odd], facts: null }).conflicting).toEqual([]);
  });
});

describe("a payment of the gateway's other books", () => {
  it('is told by the mode that its object shows, and by nothing else', () => {
    expect(sorted({ facts: facts({ mode: 'live' }) }).otherMode).toBe(true);
    expect(sorted({ facts: facts({ mode: 'test' }) }).otherMode).toBe(false);
    expect(sorted({ facts: facts({ mode: null }) }).otherMode).toBe(false);
    expect(sorted({ facts: null }).otherMode).toBe(false);
  });
});

describe('whatever events wait and whatever the gateway shows', () => {
  const some = fc.record({
    subject: fc.constantFrom('payment' as const, 'refund' as const, 'dispute' as const, null),
    objectId: fc.constantFrom('rf_1', 'rf_2', null),
    orderId: fc.constantFrom('ord_1', 'ord_2', null),
    claimed: fc.constantFrom('captured' as const, 'pending' as const, 'failed' as const, null),
  });
  const events = fc.array(some, { maxLength: 8 }).map((list) => list.map((e, i) => event(`evt_${i}`, e)));
  const shown = fc.option(
    fc.record({
      status: fc.constantFrom<PaymentStatus>(...PAYMENT_STATUSES),
      orderId: fc.constantFrom('ord_1', 'ord_2', null),
    }),
  );
  const refunds = fc.option(fc.subarray([refund('rf_1', 'succeeded'), refund('rf_2', 'failed')]));
  const callers = fc.subarray(['confirm:1', 'confirm:2']);
  const input = fc
    .tuple(events, shown, refunds, callers)
    .map(([e, f, r, c]) => ({ events: e, facts: f && facts(f), refunds: r, callers: c }));

  it('each event is settled, waits, or is before a person: exactly one of these', () => {
    fc.assert(
      fc.property(input, (one) => {
        const result = sorted(one);
        const all = [
          ...ids(result.settled),
          ...ids(result.claimingMore),
          ...ids(result.conflicting.map((c) => c.event)),
        ];
        expect(all.sort()).toEqual(ids(one.events).sort());
      }),
    );
  });

  it('only what is settled may win, every caller may, and none twice', () => {
    fc.assert(
      fc.property(input, (one) => {
        const { claimants, settled } = sorted(one);
        for (const { event: winner } of claimants) if (winner !== null) expect(settled).toContain(winner);
        expect(claimants.filter((c) => c.event === null).map((c) => c.cause)).toEqual(one.callers);
        expect(new Set(claimants.map((c) => c.cause)).size).toBe(claimants.length);
      }),
    );
  });

  it('the order in which the events came changes nothing about any of them', () => {
    fc.assert(
      fc.property(input, (one) => {
        const there = sorted(one);
        const back = sorted({ ...one, events: [...one.events].reverse() });
        expect(ids(back.settled).sort()).toEqual(ids(there.settled).sort());
        expect(ids(back.claimingMore).sort()).toEqual(ids(there.claimingMore).sort());
        expect(back.mayApply).toBe(there.mayApply);
      }),
    );
  });
});

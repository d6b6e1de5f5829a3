import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { derivedEventId } from '../../src/domain/derived-event-id.ts';
import type { EventReading } from '../../src/domain/event-reading.ts';
import * as keys from '../../src/domain/keys.ts';

// Texts that look like what joins, escapes and numbers parts: chance alone would hardly ever make two that meet.
const TRICKY = [':', '%', '%3A', '%25', '%253A', '3A', '%3a', '#', '#2', '-', 'a', '1', 'payment', 'refund', 'order'];
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const unit = fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...TRICKY) }, { weight: 1, arbitrary: visible });
const id = fc.string({ unit, minLength: 1, maxLength: 40 });
/** Few and short, so that two of them are often the same. */
const shortId = fc.string({ unit: fc.constantFrom(...TRICKY), minLength: 1, maxLength: 3 });
const source = fc.constantFrom('sim', 'stripe', 'a', '1');
const n = fc.integer({ min: 1, max: 12 });

describe('an id', () => {
  it('reads back exactly, whatever visible ASCII its parts hold', () => {
    fc.assert(
      fc.property(id, id, n, (a, b, number) => {
        expect(keys.parsePaymentWorkflowId(keys.paymentWorkflowId(a, b))).toEqual({ source: a, paymentId: b });
        expect(keys.parseOrderWorkflowId(keys.orderWorkflowId(a))).toBe(a);
        expect(keys.parseCheckoutWorkflowId(keys.checkoutWorkflowId(a, number))).toEqual({ orderId: a, n: number });
        const refundId = keys.automaticRefundId('late_capture', a, b);
        expect(keys.parseMoneyWorkflowId('refund', keys.refundWorkflowId(refundId))).toBe(refundId);
      }),
    );
  });

  it('without anything to encode reads as people write it', () => {
    expect(keys.paymentWorkflowId('sim', 'pay_1')).toBe('payment:sim:pay_1');
    expect(keys.refundWorkflowId(keys.automaticRefundId('extra_capture', 'sim', 'pay_1'))).toBe(
      'refund:extra_capture:sim:pay_1',
    );
    expect(keys.orderWorkflowId('ord_1')).toBe('order:ord_1');
    expect(keys.checkoutWorkflowId('ord_1', 2)).toBe('checkout:ord_1:2');
    expect(keys.outboxEventId('7')).toBe('outbox:7');
    expect(keys.parseOutboxEventId('outbox:7')).toBe('7');
    expect(keys.gateConsumer('webhook', 'ep_1')).toBe('webhook:ep_1');
    expect(keys.gateConsumer('receipt', '-')).toBe('receipt');
    expect(keys.qualifiedEventId('sim', 'evt_1')).toBe('sim:evt_1');
    expect(keys.capturedPostingKey('sim', 'pay_1')).toBe('captured:sim:pay_1');
    expect(keys.gatewayCallKey('refund:re_1', 1)).toBe('refund:re_1');
    expect(keys.gatewayCallKey('refund:re_1', 2)).toBe('refund:re_1#2');
  });

  it('a search for missing webhooks and a reconciliation are told by their source, those of a schedule too', () => {
    for (const source of ['sim', 'shop-eu', 'a-2026-11-30']) {
      for (const [idOf, parse] of [
        [keys.findMissingWorkflowId, keys.parseFindMissingWorkflowId],
        [keys.reconcileWorkflowId, keys.parseReconcileWorkflowId],
      ] as const) {
        expect(parse(idOf(source))).toBe(source);
        expect(parse(`${idOf(source)}-2026-11-30T12:05:00Z`)).toBe(source);
      }
    }
    expect(keys.findMissingWorkflowId('sim')).toBe('find-missing-webhooks:sim');
    for (const other of ['reconcile:sim', 'find-missing-webhooks:', 'find-missing-webhooks', ''])
      expect(keys.parseFindMissingWorkflowId(other)).toBeNull();
  });

  it('encodes what joins its parts, and what encodes', () => {
    expect(keys.paymentWorkflowId('sim', 'a:b%3A%')).toBe('payment:sim:a%3Ab%253A%25');
  });

  it('is understood in its one spelling only: two ids of one payment would be two mutexes', () => {
    const parsers = [
      (text: string) => {
        const parsed = keys.parsePaymentWorkflowId(text);
        return parsed && keys.paymentWorkflowId(parsed.source, parsed.paymentId);
      },
      (text: string) => {
        const parsed = keys.parseOrderWorkflowId(text);
        return parsed === null ? null : keys.orderWorkflowId(parsed);
      },
      (text: string) => {
        const parsed = keys.parseCheckoutWorkflowId(text);
        return parsed && keys.checkoutWorkflowId(parsed.orderId, parsed.n);
      },
    ];
    for (const text of ['outbox:', 'outbox:0', 'outbox:07', 'outbox:1e3', 'outbox:1:2', 'outbox:-1', 'order:1', '7'])
      expect(keys.parseOutboxEventId(text)).toBeNull();
    const nearly = fc
      .tuple(fc.constantFrom('payment', 'order', 'checkout', 'refund', ''), fc.array(shortId, { maxLength: 3 }))
      .map(([kind, parts]) => [kind, ...parts].join(':'));
    fc.assert(
      fc.property(nearly, (text) => {
        for (const spellAgain of parsers) expect([null, text]).toContain(spellAgain(text));
      }),
      { numRuns: 2_000 },
    );
    for (const text of ['payment:sim:a%b', 'payment:sim:a%3ab', 'order:a%', 'checkout:o:01', 'checkout:o:1e3']) {
      for (const spellAgain of parsers) expect(spellAgain(text)).toBeNull();
    }
    expect(keys.parseCheckoutWorkflowId('checkout:o:99999999999999999999999')).toBeNull();
  });

  it('of the longest payment and order stays within the 1,000 characters that Temporal takes', () => {
    const longest = ':'.repeat(200);
    const longestSource = 'a'.repeat(32);
    const ids = [
      keys.paymentWorkflowId(longestSource, longest),
      keys.refundWorkflowId(keys.automaticRefundId('extra_capture', longestSource, longest)),
      keys.orderWorkflowId(longest),
      keys.checkoutWorkflowId(longest, Number.MAX_SAFE_INTEGER),
    ];
    expect(Math.max(...ids.map((text) => text.length))).toBeLessThan(1_000);
  });
});

/** A fact, told apart by `name`, and the id that it gets. */
interface Fact {
  readonly name: unknown[];
  readonly id: string;
}

const fact = (name: unknown[], text: string): Fact => ({ name, id: text });
const automaticKind = fc.constantFrom('extra_capture' as const, 'late_capture' as const);
const requestedId = fc.constantFrom('re_1', 're_2', 're_11');
const refundId = fc.oneof(
  requestedId.map((r) => fact(['requested', r], r)),
  fc.tuple(automaticKind, source, shortId).map((a) => fact(['automatic', ...a], keys.automaticRefundId(...a))),
  fc.tuple(source, shortId).map((a) => fact(['gateway', ...a], keys.gatewayRefundId(...a))),
);
const workflow = fc.oneof(
  fc.tuple(source, shortId).map((a) => fact(['payment', ...a], keys.paymentWorkflowId(...a))),
  refundId.map((r) => fact(['refund', ...r.name], keys.refundWorkflowId(r.id))),
  shortId.map((o) => fact(['order', o], keys.orderWorkflowId(o))),
  fc.tuple(shortId, n).map((a) => fact(['checkout', ...a], keys.checkoutWorkflowId(...a))),
  n.map((o) => fact(['outbox', o], keys.outboxEventId(String(o)))),
);
const posting = fc.oneof(
  fc.tuple(source, shortId).map((a) => fact(['captured', ...a], keys.capturedPostingKey(...a))),
  refundId.map((r) => fact(['refunded', ...r.name], keys.refundedPostingKey(r.id))),
  refundId.map((r) => fact(['returned', ...r.name], keys.refundReturnedPostingKey(r.id))),
);
const reference = fc.oneof(
  refundId.map((r) => fact(['refund', ...r.name], keys.refundWorkflowId(r.id))),
  fc.tuple(shortId, n).map((a) => fact(['checkout', ...a], keys.checkoutWorkflowId(...a))),
);
/** Payments whose own ids look like an attempt at another one. */
const numbered = fc
  .string({ unit: fc.constantFrom('p', '#', '2', '%23'), minLength: 1, maxLength: 4 })
  .map((p) => fact(['numbered', p], keys.refundWorkflowId(keys.automaticRefundId('late_capture', 'sim', p))));
const gatewayCall = fc
  .tuple(fc.oneof(reference, numbered), fc.integer({ min: 1, max: 22 }))
  .map(([r, attempt]) => fact([...r.name, attempt], keys.gatewayCallKey(r.id, attempt)));
const deadLetter = fc
  .tuple(fc.constantFrom('refund_failed', 'late_capture'), fc.array(shortId, { minLength: 1, maxLength: 3 }))
  .map(([kind, about]) => fact([kind, ...about], keys.deadLetterId(kind, ...about)));
// No source is named outbox: what is ours and what came from a gateway would meet there.
const event = fc.oneof(
  fc.tuple(source, shortId).map((a) => fact(['event', ...a], keys.qualifiedEventId(...a))),
  n.map((o) => fact(['outbox', o], keys.outboxEventId(String(o)))),
);

describe('two different facts never have one id, and one fact never has two', () => {
  it.each([
    ['workflows', workflow],
    ['refunds', refundId],
    ['postings in the ledger', posting],
    ['calls to a gateway', gatewayCall],
    ['dead letters', deadLetter],
    ['events', event],
  ])('among %s', (_, facts) => {
    fc.assert(
      fc.property(fc.array(facts, { minLength: 2, maxLength: 12 }), (list) => {
        const idOf = new Map(list.map((one) => [JSON.stringify(one.name), one.id]));
        for (const one of list) expect(idOf.get(JSON.stringify(one.name))).toBe(one.id);
        expect(new Set(idOf.values()).size).toBe(idOf.size);
      }),
      { numRuns: 1_000 },
    );
  });

  it('among the keys that two attempts at two payments send to a gateway', () => {
    const call = (paymentId: string, attempt: number) =>
      keys.gatewayCallKey(keys.refundWorkflowId(keys.automaticRefundId('extra_capture', 'sim', paymentId)), attempt);
    expect(call('pay_1', 2)).not.toBe(call('pay_1#2', 1));
    expect(call('pay_1#2', 1)).not.toBe(call('pay_1%232', 1));
  });
});

describe('the id of an event that came without one', () => {
  const reading = (more: Partial<EventReading>): EventReading => ({
    ...{ verdict: 'take', reason: null, eventId: null, eventType: 'payment.captured', subject: 'payment' },
    ...{ objectId: 'pay_1', paymentId: 'pay_1', orderId: null, claimed: 'captured', amount: null, currency: null },
    ...{ fee: null, withheld: null, mode: null, occurredAt: null, reference: null },
    ...more,
  });
  const SHA = '0123456789abcdef'.repeat(4);

  it('names the type, the object, its status and the time of the gateway', () => {
    const occurredAt = Date.parse('2025-11-30T10:13:20.123Z');
    expect(derivedEventId(reading({ occurredAt }), SHA)).toBe('payment.captured:pay_1:captured:1764497600.123');
    expect(derivedEventId(reading({ occurredAt: occurredAt - 123 }), SHA)).toBe(
      'payment.captured:pay_1:captured:1764497600',
    );
  });

  it('names the first 16 digits of the hash of the body where the gateway tells no time', () => {
    expect(derivedEventId(reading({}), SHA)).toBe('payment.captured:pay_1:captured:0123456789abcdef');
  });

  it('names the refund, the dispute or the payout where it is about one', () => {
    const refund = reading({ eventType: 'refund.failed', subject: 'refund', objectId: 're_1', claimed: 'failed' });
    expect(derivedEventId(refund, SHA)).toBe('refund.failed:re_1:failed:0123456789abcdef');
    const nothing = reading({ eventType: 'x', objectId: null, paymentId: null, claimed: null });
    expect(derivedEventId(nothing, SHA)).toBe('x:-:-:0123456789abcdef');
  });

  it('is the same for a repeat, and another for another type, object, status or time', () => {
    const claimed = fc.constantFrom('captured' as const, 'failed' as const, 'pending' as const);
    const part = fc.string({ unit: fc.constantFrom(':', 'a', '%3A'), minLength: 1, maxLength: 4 });
    const some = fc.record({ eventType: part, objectId: part, claimed, occurredAt: fc.constantFrom(0, 1, 999, 1_000) });
    fc.assert(
      fc.property(some, some, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(derivedEventId(reading(a), SHA) === derivedEventId(reading(b), SHA)).toBe(same);
      }),
      { numRuns: 1_000 },
    );
    const idOf = (eventType: string, objectId: string) => derivedEventId(reading({ eventType, objectId }), SHA);
    expect(idOf('a:b', 'c')).not.toBe(idOf('a', 'b:c'));
    expect(idOf('a%3Ab', 'c')).not.toBe(idOf('a:b', 'c'));
  });
});

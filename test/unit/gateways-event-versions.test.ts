import { describe, expect, it } from 'vitest';
import { EVENT_KINDS as RAZORPAY_KINDS } from '../../src/gateways/razorpay/event-kinds.ts';
import { readRazorpayEvent } from '../../src/gateways/razorpay/read-event.ts';
import { EVENT_KINDS as STRIPE_KINDS } from '../../src/gateways/stripe/event-kinds.ts';
import { readStripeEvent } from '../../src/gateways/stripe/read-event.ts';
import { RAZORPAY_VERSIONS, STRIPE_VERSIONS, type Told } from '../support/event-versions.ts';

const bytes = (body: object): Uint8Array => Buffer.from(JSON.stringify(body));
/** Disputes have tables of their own. */
const known = (kinds: ReadonlyMap<string, unknown>) => [...kinds.keys()].filter((type) => !type.includes('dispute'));

/** The body without any amount, wherever one stands. */
function withoutAmounts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAmounts);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !key.startsWith('amount'));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutAmounts(inner)]));
}

describe.each([
  ['Stripe', (body: object) => readStripeEvent(bytes(body)), STRIPE_VERSIONS, STRIPE_KINDS],
  ['Razorpay', (body: object) => readRazorpayEvent(bytes(body), {}), RAZORPAY_VERSIONS, RAZORPAY_KINDS],
] as const)('what %s tells', (_gateway, read, versions, kinds) => {
  it.each(versions.map((told): [string, string, Told] => [told.type, told.as, told]))(
    '%s, %s, is read as every other version of it',
    (_type, _as, told) => {
      expect(read(told.body)).toMatchObject(told.read);
    },
  );

  it('is known here in two versions at least, each type of it', () => {
    const seen = new Map<string, number>();
    for (const { type } of versions) seen.set(type, (seen.get(type) ?? 0) + 1);
    expect(known(kinds).filter((type) => (seen.get(type) ?? 0) < 2)).toEqual([]);
  });

  it('without an amount has none, whatever the version, and never zero', () => {
    const zero = versions.filter(({ body }) => read(withoutAmounts(body) as object).amount !== null);
    expect(zero.map(({ type, as }) => `${type}, ${as}`)).toEqual([]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admitEvent } from '../../src/domain/admit-event.ts';
import type { EventReading } from '../../src/domain/event-reading.ts';
import { readRazorpayEvent } from '../../src/gateways/razorpay/read-event.ts';
import { readStripeEvent } from '../../src/gateways/stripe/read-event.ts';
import { RAZORPAY_SHAPES, STRIPE_SHAPES } from '../support/event-shapes.ts';

type Path = readonly (string | number)[];
const REMOVED = Symbol('removed');

/** None of them is 0: an amount of 0 can then only come of one that is missing. */
const ODD_VALUES: readonly unknown[] = [
  ...[REMOVED, null, true, false, -1, 1.5, 1e300, '', ' ', 'x', 'x'.repeat(201), '500', '-1'],
  ...['1e3', 'ñ😊', 'a\0b', '\ud800', [], {}, [null], [[1]], { id: 7 }, { id: null }, { data: {} }, { entity: [] }],
];

/** What JavaScript would round to a whole number, what is beyond its exact ones, what is none, what is beyond all. */
const INEXACT = ['100.00000000000000001', '9007199254740993', '19.99', '1e999'];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

/** A copy with one field replaced. */
function withField(body: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const copy: any = Array.isArray(body) ? [...body] : { ...(body as object) };
  if (rest.length === 0 && value === REMOVED) delete copy[key];
  else copy[key] = withField(copy[key], rest, value);
  return copy;
}

/** A field that nobody knows, in every object of the body. */
function withUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownFields);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value).map(([key, field]) => [key, withUnknownFields(field)]);
  return { unheard_of: { deep: [1, null] }, ...Object.fromEntries(inner) };
}

const VISIBLE = /^[\x21-\x7e]{1,200}$/;

/** What does not hold of a reading that must hold whatever came; or that the inbox could not take. */
function complaints(reading: EventReading): string[] {
  const { verdict, reason, subject, paymentId, objectId, orderId, amount } = reading;
  const admitted = admitEvent({
    ...{ reading, sourceMode: 'test', isJson: true, bodySha256Hex: 'ab'.repeat(32), ignoreBefore: null },
    sha256Hex: () => 'cd'.repeat(32),
  });
  const promises: Record<string, boolean> = {
    'a reason, unless it is taken': (reason === null) === (verdict === 'take'),
    'a type that can be stored': /^[\x21-\x7e]{1,100}$/.test(reading.eventType),
    'an id that can be read': reading.eventId === null || /^[\x21-\x7e]+$/.test(reading.eventId),
    'ids that can be used': [paymentId, orderId, objectId].every((id) => id === null || VISIBLE.test(id)),
    'what it is about': verdict !== 'take' || (subject === 'payout' ? objectId : paymentId) !== null,
    'an exact amount or none': amount === null || (amount > 0n && amount <= 2n ** 53n - 1n),
    'a currency or none': reading.currency === null || /^[A-Z]{3}$/.test(reading.currency),
    'a time or none': reading.occurredAt === null || reading.occurredAt >= 0,
    'a key that fits': admitted.eventId.length <= 255,
    'a person, where it is held': verdict !== 'hold' || admitted.state !== 'pending',
  };
  return Object.keys(promises).filter((promise) => promises[promise] === false);
}

function bytes(body: unknown): Uint8Array {
  return Buffer.from(body === REMOVED ? '' : JSON.stringify(body));
}

describe.each([
  ['Stripe', (body: Uint8Array) => readStripeEvent(body), STRIPE_SHAPES, 'data.object'],
  ['Razorpay', (body: Uint8Array) => readRazorpayEvent(body, {}), RAZORPAY_SHAPES, 'payload'],
] as const)('an event of %s', (_gateway, read, shapes, inside) => {
  it.each(shapes.map((shape) => [shape.name, shape] as const))('about %s is understood', (_name, shape) => {
    const reading = read(bytes(shape.body));
    expect(reading).toMatchObject(shape.read);
    expect(complaints(reading)).toEqual([]);
  });

  it.each(shapes.map((shape) => [shape.name, shape] as const))(
    'about %s reads the same with fields that nobody knows',
    (_name, { body }) => {
      expect(read(bytes(withUnknownFields(body)))).toEqual(read(bytes(body)));
    },
  );

  it.each(shapes.map((shape) => [shape.name, shape] as const))(
    'about %s stays sound whatever stands in any one of its fields',
    (_name, { body }) => {
      const unsound = pathsOf(body).flatMap((path) =>
        ODD_VALUES.flatMap((value) => {
          const found = complaints(read(bytes(withField(body, path, value))));
          return found.length === 0 ? [] : [`${path.join('.')} = ${String(value).slice(0, 50)}: ${found.join(', ')}`];
        }),
      );
      expect(unsound).toEqual([]);
    },
  );

  it.each(shapes.map((shape) => [shape.name, shape] as const))(
    'about %s has no amount where one is not exact or not there, and is held where it is not exact',
    (_name, { body, read: expected }) => {
      if (!('amount' in expected) || expected.amount === null) return;
      const paths = pathsOf(body).filter((path) => path[0] !== 'contains' && /^amount/.test(String(path.at(-1))));
      const without = paths.reduce((rest, path) => withField(rest, path, REMOVED), body as unknown);
      expect(read(bytes(without)).amount).toBeNull();
      for (const literal of INEXACT) {
        const marked = paths.reduce((rest, path) => withField(rest, path, '@'), body as unknown);
        const reading = read(Buffer.from(JSON.stringify(marked).replaceAll('"@"', literal)));
        expect(reading).toMatchObject({ verdict: 'hold', amount: null });
      }
    },
  );

  it('that holds anything at all, anywhere, throws nothing', () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const [first] = shapes;
    fc.assert(fc.property(json, (body) => void read(bytes(body))));
    fc.assert(
      fc.property(fc.constantFrom(...shapes), json, (shape, object) => {
        void read(bytes(withField(shape.body, inside.split('.'), object)));
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (garbage) => void read(garbage)));
    expect(read(bytes(first?.body)).verdict).toBe('take');
  });
});

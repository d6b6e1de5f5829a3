import fc from 'fast-check';

export const PAID_ORDERS = 3;
export const OPEN_ORDERS = 3;
export const INTENT_KINDS = ['refund', 'charge', 'topUp', 'payout', 'checkout', 'order'] as const;

/** One thing that a client wants, under one Idempotency-Key. What numbers mean depends on the kind. */
export interface Intent {
  readonly kind: (typeof INTENT_KINDS)[number];
  readonly target: number;
  readonly size: number;
}

/** How one request is sent. */
export interface Sending {
  readonly server: 0 | 1;
  /** The client hangs up after so many milliseconds; null: it listens. */
  readonly goneMs: number | null;
}

export type Command = { readonly wait: boolean } & (
  | ({ readonly do: 'ask'; readonly intent: Intent } & Sending)
  /** `other`: another body under the same key. */
  | ({ readonly do: 'repeat'; readonly of: number; readonly other: boolean } & Sending)
  | { readonly do: 'cancel'; readonly order: number }
  | { readonly do: 'confirm'; readonly order: number }
  | { readonly do: 'pay'; readonly order: number; readonly times: number }
  | { readonly do: 'webhook'; readonly order: number; readonly type: string; readonly times: number }
  | { readonly do: 'storm'; readonly order: number; readonly signals: number }
  | { readonly do: 'faults'; readonly faults: object }
  | { readonly do: 'kill'; readonly which: 'worker' | 0 | 1 }
);

const server = fc.constantFrom(0 as const, 1 as const);
const sending = { server, goneMs: fc.option(fc.integer({ min: 0, max: 400 }), { freq: 4 }) };
const order = fc.nat({ max: PAID_ORDERS + OPEN_ORDERS - 1 });
const intent = fc.record({
  kind: fc.constantFrom(...INTENT_KINDS),
  target: fc.nat({ max: 2 }),
  size: fc.nat({ max: 3 }),
});

/** Each is over after a few calls, so that everything comes right in the end. */
const faults = fc.constantFrom<object>(
  { lose_answer: { calls: ['writes'], next: 3, how: 'cut' } },
  { lose_answer: { calls: ['writes'], next: 2, how: 'half' } },
  { lose_answer: { calls: ['writes'], next: 1, how: 'hang' } },
  // Done only after the first look-up, and before the second.
  { late_work: { next: 2, how: 'cut', after_ms: [500, 3_000] } },
  { error_after: { calls: ['writes'], next: 3 } },
  { error_before: { next: 4 }, rate_limit: { next: 2, retry_after: 1 } },
  { pending: { next: 3, complete_ms: [200, 1_500] } },
  { slow_ms: { ms: [300, 1_500], next: 4 } },
);

/** One after the other, or at once: `wait` says whether the next one begins only when this one is over. */
export const command: fc.Arbitrary<Command> = fc
  .tuple(
    fc.boolean(),
    fc.oneof(
      { weight: 10, arbitrary: fc.record({ do: fc.constant('ask' as const), intent, ...sending }) },
      {
        weight: 8,
        arbitrary: fc.record({
          ...{ do: fc.constant('repeat' as const), of: fc.nat({ max: 99 }), ...sending },
          // Mostly the same one.
          other: fc.nat({ max: 3 }).map((n) => n === 0),
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), order }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('confirm' as const), order }) },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('pay' as const), order, times: fc.integer({ min: 1, max: 5 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          ...{ do: fc.constant('webhook' as const), order, times: fc.integer({ min: 1, max: 10 }) },
          type: fc.constantFrom('payment.captured', 'payment.pending', 'payment.authorized', 'payment.failed'),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('storm' as const), order, signals: fc.constantFrom(20, 100) }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('faults' as const), faults }) },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('kill' as const),
          which: fc.constantFrom('worker' as const, 0 as const, 1 as const),
        }),
      },
    ),
  )
  .map(([wait, what]) => ({ wait, ...what }));

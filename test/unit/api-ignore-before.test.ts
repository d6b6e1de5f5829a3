import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { admitted } from '../../src/gateways/admitted.ts';
import type { SourceConfig } from '../../src/domain/source-config.ts';
import { createGateway } from '../../src/gateways/create-gateway.ts';
import { RAZORPAY_SHAPES, STRIPE_SHAPES } from '../support/event-shapes.ts';

const BEGAN = Date.UTC(2026, 0, 1);
const OLD = BEGAN - 1;

const STANDARD = {
  type: 'payment.captured',
  data: { payment_id: 'pay_1', order_id: 'ord_1', status: 'captured', amount: 1999, currency: 'EUR' },
};

/** A body of each gateway's, as of that moment (milliseconds since the epoch). */
const GATEWAYS: Readonly<
  Record<SourceConfig['kind'], { bodies: readonly object[]; at: (body: object, ms: number) => object }>
> = {
  stripe: {
    bodies: STRIPE_SHAPES.map(({ body }) => body as object),
    at: (body, ms) => ({ ...body, created: Math.floor(ms / 1_000) }),
  },
  razorpay: {
    bodies: RAZORPAY_SHAPES.map(({ body }) => body as object),
    at: (body, ms) => ({ ...body, created_at: Math.floor(ms / 1_000) }),
  },
  standard: { bodies: [STANDARD], at: (body, ms) => ({ ...body, timestamp: new Date(ms).toISOString() }) },
};
const KINDS = Object.keys(GATEWAYS) as SourceConfig['kind'][];

function state(kind: SourceConfig['kind'], body: object, ignoreBefore: number | null = BEGAN) {
  const gateway = createGateway(
    {
      ...{ name: 'shop', kind, mode: 'test', apiBase: 'http://127.0.0.1:2', accountNumber: null },
      apiKey: kind === 'razorpay' ? 'key:secret' : 'key',
      webhookSecrets: [{ secret: 'whsec_c2VjcmV0', eventsBefore: null }],
    },
    { toleranceMs: 300_000 },
  );
  // Sent today, as a gateway sends an old event once more: the signature's time is not the event's.
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) };
  const bytes = Buffer.from(JSON.stringify(body));
  const sha256 = createHash('sha256').update(bytes).digest();
  const { event } = admitted({ ignoreBefore }, { gateway, mode: 'test' }, bytes, headers, sha256);
  return { state: event.state, reason: event.reason };
}

describe.each(KINDS)('an event of %s', (kind) => {
  const { bodies, at } = GATEWAYS[kind];

  it('from before the moment that the policy names is ignored, whatever it is about', () => {
    const reason = 'older than policies.ignore_before';
    for (const body of bodies) expect(state(kind, at(body, OLD))).toEqual({ state: 'ignored', reason });
  });

  it('from that moment on, or without such a policy, is taken as ever', () => {
    const [body = {}] = bodies;
    expect(state(kind, at(body, BEGAN)).state).toBe('pending');
    expect(state(kind, at(body, OLD), null).state).toBe('pending');
  });

  it('that cannot be understood is put before nobody where it is old, and before a person where it is not', () => {
    const unreadable = { ...bodies[0], data: {}, payload: {} };
    expect(state(kind, at(unreadable, OLD)).state).toBe('ignored');
    expect(state(kind, at(unreadable, BEGAN)).state).toBe('held');
  });
});

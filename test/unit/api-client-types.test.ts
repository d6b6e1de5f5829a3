import { expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import type { checkout, newOrder, order } from '../../src/api/schemas/order.ts';
import type * as money from '../../src/api/schemas/money.ts';
import type { confirmation, payment, timeline } from '../../src/api/schemas/payment.ts';
import { PaidonceError } from '../../src/client/api-error.ts';
import type * as client from '../../src/client/index.ts';

it("the client's types are those that the API checks and documents", () => {
  expectTypeOf<client.NewOrder>().toEqualTypeOf<z.input<typeof newOrder>>();
  expectTypeOf<client.Order>().toEqualTypeOf<z.output<typeof order>>();
  expectTypeOf<client.Checkout>().toEqualTypeOf<z.output<typeof checkout>>();
  expectTypeOf<client.Payment>().toEqualTypeOf<z.output<typeof payment>>();
  expectTypeOf<client.Confirmation>().toEqualTypeOf<z.output<typeof confirmation>>();
  expectTypeOf<client.NewRefund>().toEqualTypeOf<z.input<typeof money.newRefund>>();
  expectTypeOf<client.NewPayout>().toEqualTypeOf<z.input<typeof money.newPayout>>();
  expectTypeOf<client.NewCharge>().toEqualTypeOf<z.input<typeof money.newCharge>>();
  expectTypeOf<client.NewTopUp>().toEqualTypeOf<z.input<typeof money.newTopUp>>();
  expectTypeOf<client.Refund>().toEqualTypeOf<z.output<typeof money.refund>>();
  expectTypeOf<client.Payout>().toEqualTypeOf<z.output<typeof money.payout>>();
  expectTypeOf<client.Charge>().toEqualTypeOf<z.output<typeof money.charge>>();
  expectTypeOf<client.TopUp>().toEqualTypeOf<z.output<typeof money.topUp>>();
  expectTypeOf<client.Capture>().toEqualTypeOf<z.output<typeof money.capture>>();
  expectTypeOf<client.Void>().toEqualTypeOf<z.output<typeof money.voided>>();
  expectTypeOf<client.Wallet>().toEqualTypeOf<z.output<typeof money.wallet>>();
  expectTypeOf<client.TimelineEntry>().toEqualTypeOf<z.output<typeof timeline>['data'][number]>();
});

it('an error says whether the same request may succeed later', () => {
  const problem = (code: string) => ({ code, detail: 'd', request_id: 'r' });
  expect(new PaidonceError(409, problem('request_in_progress'), '2')).toMatchObject({
    retryable: true,
    retryAfterSeconds: 2,
  });
  expect(new PaidonceError(422, problem('idempotency_key_reused'), null)).toMatchObject({ retryable: false });
  expect(new PaidonceError(502, {}, 'Wed, 21 Oct 2026 07:28:00 GMT')).toMatchObject({
    ...{ code: 'no_answer', retryable: true, retryAfterSeconds: null, requestId: null },
  });
});

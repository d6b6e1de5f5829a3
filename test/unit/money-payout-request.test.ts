import { afterAll, beforeAll, expect, it } from 'vitest';
import { makePayout } from '../../src/cli/payouts/make-payout.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../support/scripted-server.ts';

const PAYOUT = {
  seller_id: 'sel:1',
  settlement_date: '2026-11-30',
  amount: 7_000,
  currency: 'EUR',
  destination: 'acc_1',
};
const OF_THE_DAY = { id: 'sel:1:2026-11-30', status: 'succeeded', gateway_payout_id: 'po_1', ...PAYOUT, source: 'one' };

/** The API as it stands after the first account has paid the seller for the day. */
let api: ScriptedServer;
beforeAll(async () => {
  api = await startScriptedServer(({ method, headers }, response) => {
    if (method === 'GET') return sendJson(response, 200, OF_THE_DAY);
    const first = headers['idempotency-key'] === 'pay_out:one:sel%3A1:2026-11-30';
    const location = { location: '/v1/payouts/sel%3A1%3A2026-11-30' };
    return first
      ? sendJson(response, 201, OF_THE_DAY, location)
      : sendJson(response, 409, { code: 'payout_exists' }, location);
  });
});
afterAll(() => api.close());

const make = (source: string) => makePayout({ url: api.url, key: 'k' }, { source, ...PAYOUT });

it('a payout is asked for under a key of its account, seller and day, the same however often', async () => {
  for (let again = 0; again < 2; again += 1)
    expect(await make('one')).toMatchObject({ result: 'paid', id: OF_THE_DAY.id });
});

it('the same seller and day at another account is another request: it is told of the payout that there is', async () => {
  expect(await make('two')).toMatchObject({
    ...{ result: 'refused', id: OF_THE_DAY.id },
    detail: expect.stringContaining('with another source'),
  });
});

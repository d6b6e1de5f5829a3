import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { eventually } from '../support/eventually.ts';
import { forgetHistory } from '../support/forget-history.ts';
import { type MoneySystem, openMoneySystem } from '../support/money-system.ts';
import { control } from '../support/simulator.ts';

let system: MoneySystem;
let payout: Record<string, any>;
let refund: Record<string, any>;

const books = async (account: string) =>
  (
    await system.row<{ sum: string | null }>(
      `select sum(case side when 'debit' then amount else -amount end)::text as sum from ledger_entries where account = $1`,
      account,
    )
  )?.sum;

beforeAll(async () => {
  system = await openMoneySystem({ webhooks: true });
  const day = { source: 'sim', seller_id: 'seller-back', settlement_date: '2026-11-30', destination: 'acct_1' };
  payout = (await system.post('/v1/payouts', { key: 'out', body: { ...day, amount: 9_000, currency: 'EUR' } })).body;
  const { paymentId } = await system.paid('back');
  const asked = { source: 'sim', payment_id: paymentId, amount: 10_000 };
  refund = (await system.post('/v1/refunds', { key: 'back', body: asked })).body;
  await system.shows(`/v1/payouts/${encodeURIComponent(payout['id'])}`, { status: 'succeeded' });
  await system.shows(`/v1/refunds/${encodeURIComponent(refund['id'])}`, { status: 'succeeded' });
  await eventually('nothing is on its way', async () => {
    return (await system.count(`webhook_events where state = 'pending'`)) === 0;
  });
  // Days later the workflows are long over; here nothing is left of them at all.
  await forgetHistory(system.temporal);
}, 300_000);
afterAll(() => system.close());

describe('money that a bank sends back days later, when the engine has forgotten everything', () => {
  it('a payout is failed, taken back in the books, before a person, and not sent again', async () => {
    expect(await books('seller_payouts')).toBe('9000');
    await control(system.sim, 'POST', `/payouts/${payout['gateway_payout_id']}/fail`);
    await system.shows(`/v1/payouts/${encodeURIComponent(payout['id'])}`, { status: 'failed' });
    expect(await books('seller_payouts')).toBe('0');
    expect(await system.count(`dead_letters where kind = 'payout_failed' and status = 'open'`)).toBe(1);
    expect(await system.count(`outbox where event_type = 'payout.failed'`)).toBe(1);
    expect((await system.atGateway()).payouts).toHaveLength(1);
  });

  it('a refund likewise: its order has the money again, and what was stopped stays stopped', async () => {
    await control(system.sim, 'POST', `/refunds/${refund['gateway_refund_id']}/fail`);
    await system.shows(`/v1/refunds/${encodeURIComponent(refund['id'])}`, { status: 'failed' });
    expect(await books('sales_refunds')).toBe('0');
    expect(await system.count(`dead_letters where kind = 'refund_failed' and status = 'open'`)).toBe(1);
    expect(await system.count(`orders where amount_refunded = 0 and status = 'paid'`)).toBe(1);
    expect((await system.atGateway()).refunds).toHaveLength(1);
  });

  it('only a person has it sent again, once', async () => {
    const { body } = await system.get('/v1/dead-letters');
    const letter = body.data.find((row: { kind: string }) => row.kind === 'payout_failed');
    const decided = await system.post(`/v1/dead-letters/${encodeURIComponent(letter.id)}/decide`, {
      body: { action: 'retry', note: 'the account is right now' },
    });
    expect(decided.status).toBe(200);
    await system.shows(`/v1/payouts/${encodeURIComponent(payout['id'])}`, { status: 'succeeded' });
    expect((await system.atGateway()).payouts).toHaveLength(2);
    expect(await books('seller_payouts')).toBe('9000');
    expect((await runAudit(system.db.pool)).violations).toEqual([]);
  });
});

import type { Pool } from 'pg';
import type { DisputeFacts } from '../../src/domain/gateway-facts.ts';
import { facts, look, refundFacts } from './seed.ts';
import { lookAtCard, placeCard, seedCard } from './seed-storm-of-moves.ts';
import { FIRST, type SeededDispute } from './seed-disputes.ts';

const REVOKE = { policies: { disputeLost: 'revoke' } } as const;

/** What customers contest, in every state that it can be left in, each by the product's own transactions. */
export async function seedDisputes(
  pool: Pool,
  order: (id: string, everything?: boolean) => Promise<void>,
  deliver: (eventId: string, paymentId: string, more: object) => Promise<void>,
): Promise<void> {
  let told = 0;
  const dispute = async (d: SeededDispute, more: Parameters<typeof look>[2] = {}) => {
    told += 1;
    const { paymentId, disputeId, orderId = null, status, amount = 10_000n, fee = null, minute = told } = d;
    await deliver(`evt_dispute_${told}`, paymentId, {
      ...{ eventType: `dispute.${status}`, objectId: disputeId, orderId, amount, currency: 'EUR', fee },
      occurredAt: FIRST + (minute ?? 0) * 60_000,
    });
    await look(pool, facts({ paymentId, orderId }), more);
  };
  const paid = async (name: string, everything = true) => {
    await order(`ord_${name}`, everything);
    await look(pool, facts({ paymentId: `pay_${name}`, orderId: `ord_${name}` }));
    return { paymentId: `pay_${name}`, orderId: `ord_${name}` };
  };
  const disputed = { ...(await paid('disputed')), disputeId: 'dp:1#2' };
  await dispute({ ...disputed, status: 'opened', fee: 1_500n });
  await dispute({ ...disputed, status: 'lost', amount: null });

  const won = { ...(await paid('won')), disputeId: 'dp_won' };
  await dispute({ ...won, status: 'won', fee: 0n, minute: 20 });
  await dispute({ ...won, status: 'opened', fee: 1_500n, minute: 10 });
  await dispute({ ...won, disputeId: 'dp_back_and_forth', status: 'lost', amount: 400n, minute: 10 });
  await dispute({ ...won, disputeId: 'dp_back_and_forth', status: 'won', amount: 400n, minute: 20 });
  await dispute({ ...won, disputeId: 'dp_back_and_forth', status: 'lost', amount: 500n, minute: 30 });

  const escalated = { ...(await paid('escalated')), disputeId: 'dp_escalated' };
  const shown: DisputeFacts = {
    ...{
      disputeId: 'dp_escalated',
      paymentId: escalated.paymentId,
      status: 'opened',
      amount: 10_000n,
      currency: 'EUR',
    },
    ...{ withheld: false, fee: null, feeCurrency: null, openedAt: null },
  };
  await dispute({ ...escalated, status: 'opened' }, { disputes: [shown] });
  await dispute({ ...escalated, status: 'won' }, { disputes: [{ ...shown, status: 'won' }] });
  await dispute({ ...escalated, status: 'opened' }, { disputes: [{ ...shown, withheld: true }] });

  const revoked = await paid('revoked');
  await look(pool, facts(revoked), {
    refunds: [refundFacts({ refundId: 'rf_revoked', paymentId: 'pay_revoked', amount: 3_000n })],
  });
  await dispute({ ...revoked, disputeId: 'dp_half', status: 'lost', amount: 3_000n }, REVOKE);
  await dispute({ ...revoked, disputeId: 'dp_rest', status: 'lost', amount: 4_000n, fee: 10n }, REVOKE);
  const restored = { ...(await paid('restored')), disputeId: 'dp_restored' };
  await dispute({ ...restored, status: 'lost', minute: 1 }, REVOKE);
  await dispute({ ...restored, status: 'won', minute: 2 }, REVOKE);

  for (const name of ['charged_back', 'restored'] as const) {
    const id = await seedCard(pool, 'top_up', name);
    await placeCard(pool, 'top_up', id);
    await lookAtCard(pool, 'top_up', id, {});
    const filled = { paymentId: `pay_${id}`, disputeId: `dp_${id}` };
    await dispute({ ...filled, status: 'lost', amount: 4_000n, minute: 1 }, REVOKE);
    if (name === 'restored') await dispute({ ...filled, status: 'won', amount: 4_000n, minute: 2 }, REVOKE);
  }

  // None of these counts for an order: extra, waiting, unmatched.
  await dispute({ paymentId: 'pay_open_2', orderId: 'ord_open', disputeId: 'dp_extra', status: 'opened' });
  await dispute({ paymentId: 'pay_early', orderId: 'ord_later', disputeId: 'dp_early', status: 'opened' });
  await dispute({ paymentId: 'pay_lost', orderId: 'ord_lost', disputeId: 'dp_unmatched', status: 'lost' }, REVOKE);

  const silent = { eventType: 'dispute.opened', objectId: 'dp_silent' };
  await deliver('evt_silent', 'pay_won', silent);
  await look(pool, facts(won));
  // Points at another rate than today's.
  await order('ord_half_points', true);
  const halfPoints = { policies: { loyaltyPointsPerMajorUnit: 0.5 } };
  await look(pool, facts({ paymentId: 'pay_half_points', orderId: 'ord_half_points' }), halfPoints);
}

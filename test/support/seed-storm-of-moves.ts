import type { Pool } from 'pg';
import { readCardPayment, recordPlacedCardPayment, type CardPaymentKind } from '../../src/database/card-payment.ts';
import { giveUpMove, type MoveEnd } from '../../src/database/give-up-move.ts';
import { readMoneyMove, type MoneyMoveKind } from '../../src/database/money-move.ts';
import { inTransaction } from '../../src/database/pool.ts';
import { recordPayout } from '../../src/database/record-payout.ts';
import { recordRefunds } from '../../src/database/record-refunds.ts';
import { reserveCharge } from '../../src/database/reserve-charge.ts';
import { reservePayout } from '../../src/database/reserve-payout.ts';
import { reserveRefund } from '../../src/database/reserve-refund.ts';
import { reserveTopUp } from '../../src/database/reserve-top-up.ts';
import type { PaymentFacts, PayoutFacts } from '../../src/domain/gateway-facts.ts';
import { DEFAULT_POLICIES } from '../../src/domain/policies.ts';
import { facts, look, refundFacts } from './seed.ts';
import { seedAuthorizations } from './seed-storm-of-authorizations.ts';

/** What payouts, charges, top-ups and refunds that somebody asks for can come to, each by the product's own transactions. */

const MONEY = { source: 'sim', currency: 'EUR', requestedBy: 'shop' };

/** A payout as the API reserves it; the id is `test:{name}:2026-11-30`. */
export async function seedPayout(pool: Pool, name: string): Promise<string> {
  const request = { ...MONEY, mode: 'test', sellerId: name, settlementDate: '2026-11-30', amount: 700n } as const;
  const { id } = await inTransaction(pool, (tx) => reservePayout(tx, { ...request, destination: 'acct_1' }));
  return id;
}

/** What the gateway says about it, to our call or by a look. */
export async function payoutIs(
  pool: Pool,
  id: string,
  status: PayoutFacts['status'],
  payoutId = `po_${id}`,
): Promise<void> {
  const shown = { payoutId, amount: 700n, currency: 'EUR', status, reference: `payout:${id}`, failureCode: null };
  await recordPayout(pool, id, shown, { cause: `payout:${id}`, answered: true });
}

/** The machine's own tries are over. */
export async function seedEnd(pool: Pool, kind: MoneyMoveKind, id: string, end: MoveEnd): Promise<void> {
  const move = await readMoneyMove(pool, kind, id);
  if (move === null) throw new Error(`There is no ${kind} ${id}.`);
  await giveUpMove(pool, move, end, { code: 'code', message: 'message' });
}

/** A charge of ord_{name}, or a top-up of wal_{name}. */
export async function seedCard(pool: Pool, kind: CardPaymentKind, name: string, amount = 10_000n): Promise<string> {
  const card = { ...MONEY, customerId: 'cus_1', paymentMethod: 'pm_1', amount };
  const id = `${kind === 'charge' ? 'ch' : 'tu'}_${name}`;
  const reserved = await inTransaction<{ result: string }>(pool, (tx) =>
    kind === 'charge'
      ? reserveCharge(tx, { ...card, id, orderId: `ord_${name}` })
      : reserveTopUp(tx, { ...card, id, walletId: `wal_${name}` }),
  );
  if (reserved.result !== 'reserved') throw new Error(`${id}: ${reserved.result}`);
  return id;
}

/** The gateway has made its payment, `pay_{id}`. */
export async function placeCard(pool: Pool, kind: CardPaymentKind, id: string): Promise<void> {
  const card = await readCardPayment(pool, kind, id);
  if (card === null) throw new Error(`There is no ${kind} ${id}.`);
  await recordPlacedCardPayment(pool, kind, card, `pay_${id}`);
}

/** A look at that payment. */
export async function lookAtCard(
  pool: Pool,
  kind: CardPaymentKind,
  id: string,
  shown: Partial<PaymentFacts>,
  more: Parameters<typeof look>[2] = {},
): Promise<void> {
  const orderId = kind === 'charge' ? id.replace('ch_', 'ord_') : null;
  await look(pool, facts({ paymentId: `pay_${id}`, orderId, reference: `${kind}:${id}`, ...shown }), more);
}

/** A refund that a client asks for. */
export async function seedRefund(pool: Pool, id: string, paymentId: string, amount: bigint): Promise<void> {
  const request = { ...MONEY, id, paymentId, amount, reason: null };
  const { result } = await inTransaction(pool, (tx) => reserveRefund(tx, request));
  if (result !== 'reserved') throw new Error(`${id}: ${result}`);
}

/** What the gateway answers to our own call for a refund. */
export async function refundIs(
  pool: Pool,
  id: string,
  status: 'pending' | 'succeeded' | 'failed',
  refundId = `rf_of_${id}`,
): Promise<void> {
  const { rows } = await pool.query<{ payment_id: string; order_id: string | null; amount: bigint; currency: string }>(
    'select payment_id, order_id, amount, currency from refunds where id = $1',
    [id],
  );
  const refund = rows[0];
  if (refund === undefined) throw new Error(`There is no refund ${id}.`);
  const { payment_id: paymentId, order_id: orderId, amount, currency } = refund;
  const reference = `refund:${id}`;
  await recordRefunds(pool, {
    ...{ source: 'sim', paymentId, orderId, cause: reference, policies: DEFAULT_POLICIES, answered: reference },
    facts: [refundFacts({ refundId, paymentId, amount, currency, status, reference })],
  });
}

/** Payouts, charges, top-ups, captures and voids in every state; `order` makes an order as the API does. */
export async function seedMoves(pool: Pool, order: (id: string) => Promise<void>): Promise<void> {
  await payouts(pool);
  await charges(pool, order);
  await topUps(pool);
  await seedAuthorizations(pool, order);
}

async function payouts(pool: Pool): Promise<void> {
  await seedPayout(pool, 'asked');
  for (const name of ['pending', 'paid', 'sent:back', 'failed'] as const) {
    const id = await seedPayout(pool, name);
    await payoutIs(pool, id, 'pending');
    if (name === 'paid' || name === 'sent:back') await payoutIs(pool, id, 'paid');
    if (name === 'failed' || name === 'sent:back') await payoutIs(pool, id, 'failed');
  }
  await seedEnd(pool, 'payout', await seedPayout(pool, 'doubt'), 'unknown');
  await seedEnd(pool, 'payout', await seedPayout(pool, 'rejected'), 'rejected');
}

async function charges(pool: Pool, order: (id: string) => Promise<void>): Promise<void> {
  for (const name of ['charged', 'declined', 'failing', 'placed', 'settling', 'card_doubt']) {
    await order(`ord_${name}`);
    const id = await seedCard(pool, 'charge', name);
    if (name === 'declined') await seedEnd(pool, 'charge', id, 'declined');
    else if (name === 'card_doubt') await seedEnd(pool, 'charge', id, 'unknown');
    else await placeCard(pool, 'charge', id);
    if (name === 'charged') await lookAtCard(pool, 'charge', id, {});
    if (name === 'failing') await lookAtCard(pool, 'charge', id, { status: 'failed' });
    if (name === 'settling') await lookAtCard(pool, 'charge', id, { status: 'pending' });
  }
}

async function topUps(pool: Pool): Promise<void> {
  for (const name of ['filled', 'given_back', 'took_back', 'overdrawn', 'poor', 'coming', 'dollars', 'fill_doubt']) {
    const id = await seedCard(pool, 'top_up', name);
    if (name === 'fill_doubt') await seedEnd(pool, 'top_up', id, 'unknown');
    else await placeCard(pool, 'top_up', id);
    if (name === 'poor') await lookAtCard(pool, 'top_up', id, { status: 'failed' });
    if (name === 'dollars') await lookAtCard(pool, 'top_up', id, { currency: 'USD' });
    if (['fill_doubt', 'poor', 'coming', 'dollars'].includes(name)) continue;
    // Its answer and its webhook, whichever is first.
    for (const caller of ['api', 'webhook']) await lookAtCard(pool, 'top_up', id, {}, { callers: [caller] });
  }
  await seedRefund(pool, 'rf_given_back', 'pay_tu_given_back', 4_000n);
  await refundIs(pool, 'rf_given_back', 'succeeded');
  await seedRefund(pool, 'rf_took_back', 'pay_tu_took_back', 4_000n);
  await refundIs(pool, 'rf_took_back', 'succeeded');
  await refundIs(pool, 'rf_took_back', 'failed');
  const refunds = [1, 2].map((n) =>
    refundFacts({ refundId: `rf_overdrawn_${n}`, paymentId: 'pay_tu_overdrawn', amount: 6_000n }),
  );
  await lookAtCard(pool, 'top_up', 'tu_overdrawn', {}, { refunds });
}

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChargeOrder, PayoutOrder } from '../../src/gateways/gateway.ts';
import { eventually } from '../support/eventually.ts';
import type { SimSettings } from '../support/processes.ts';
import { simSettings } from '../support/processes.ts';
import { SINCE } from '../support/scripted-gateway.ts';
import { adapterOf, control, startSimulatorProcess } from '../support/simulator.ts';

let sim: SimSettings;
let adapter: ReturnType<typeof adapterOf>;

beforeAll(async () => {
  sim = await simSettings();
  await startSimulatorProcess(sim);
  adapter = adapterOf(sim);
});

beforeEach(async () => {
  await control(sim, 'POST', '/reset');
});

function faults(settings: object) {
  return control(sim, 'PUT', '/faults', settings);
}

const CHARGE: ChargeOrder = {
  orderId: 'ord_1',
  customerId: 'cus_1',
  paymentMethod: 'card_1',
  amount: 1_999n,
  currency: 'EUR',
  reference: 'charge:1',
  idempotencyKey: 'charge:1',
};

const PAYOUT: PayoutOrder = {
  sellerId: 'seller_1',
  destination: 'bank_1',
  amount: 90_000n,
  currency: 'EUR',
  reference: 'payout:seller_1:2026-11-30',
  idempotencyKey: 'payout:seller_1:2026-11-30',
};

describe('a saved card', () => {
  it('is charged once under one key, and the charge is a payment like any other', async () => {
    const charged = await adapter.chargeSavedCard(CHARGE);
    expect(charged).toMatchObject({ orderId: 'ord_1', reference: 'charge:1', status: 'captured', amount: 1_999n });
    expect(await adapter.chargeSavedCard(CHARGE)).toEqual(charged);
    expect(await adapter.findCharges('charge:1', 'cus_1', SINCE)).toEqual([charged]);
    expect(await adapter.findCharges('charge:2', 'cus_1', SINCE)).toEqual([]);
    expect(await adapter.fetchPayment(charged.paymentId)).toEqual(charged);
  });

  it('is charged for a wallet, which is no order', async () => {
    const charged = await adapter.chargeSavedCard({ ...CHARGE, orderId: null });
    expect(charged).toMatchObject({ orderId: null, status: 'captured' });
  });

  it('that is declined is rejected, leaves nothing behind, and is nobody’s fault', async () => {
    const refused = { kind: 'rejected', code: 'card_declined', ourFault: false };
    await expect(adapter.chargeSavedCard({ ...CHARGE, paymentMethod: 'card_declined' })).rejects.toMatchObject(refused);
    expect(await adapter.findCharges('charge:1', 'cus_1', SINCE)).toEqual([]);
  });

  it('is not charged under the key of another charge', async () => {
    await adapter.chargeSavedCard(CHARGE);
    const refused = { kind: 'rejected', code: 'idempotency_key_reused' };
    await expect(adapter.chargeSavedCard({ ...CHARGE, amount: 1n })).rejects.toMatchObject(refused);
  });

  it('whose charge got no answer was charged all the same, and the look-up finds it', async () => {
    await faults({ lose_answer: { calls: ['charges'] } });
    await expect(adapter.chargeSavedCard(CHARGE)).rejects.toMatchObject({ kind: 'unknown', code: 'connection_lost' });
    expect(await adapter.findCharges('charge:1', 'cus_1', SINCE)).toMatchObject([
      { status: 'captured', amount: 1_999n },
    ]);
  });

  it('that takes its time is pending, then captured', async () => {
    await faults({ pending: { complete_ms: [100, 100] } });
    const { paymentId, status } = await adapter.chargeSavedCard(CHARGE);
    expect(status).toBe('pending');
    await eventually(
      'the charge is captured',
      async () => (await adapter.fetchPayment(paymentId))?.status === 'captured',
    );
  });
});

describe('a payout', () => {
  it('is made once under one key, and is found by its reference and by nothing else', async () => {
    const made = await adapter.createPayout(PAYOUT);
    expect(made).toEqual({
      payoutId: expect.stringMatching(/^po_/),
      amount: 90_000n,
      currency: 'EUR',
      status: 'paid',
      reference: PAYOUT.reference,
      failureCode: null,
    });
    expect(await adapter.createPayout(PAYOUT)).toEqual(made);
    expect(await adapter.findPayouts(PAYOUT.reference, SINCE)).toEqual([made]);
    expect(await adapter.findPayouts('payout:seller_1:2026-12-01', SINCE)).toEqual([]);
    expect(await adapter.fetchPayout(made.payoutId)).toEqual(made);
    expect(await adapter.fetchPayout('po_unknown')).toBeNull();
  });

  it('that the bank sends back has failed', async () => {
    const { payoutId } = await adapter.createPayout(PAYOUT);
    await control(sim, 'POST', `/payouts/${payoutId}/fail`);
    expect(await adapter.fetchPayout(payoutId)).toMatchObject({ status: 'failed' });
  });

  it('is refused for too little balance, and heard again under another key', async () => {
    await faults({ refuse: { next: 1, calls: ['payouts'] } });
    const refused = { kind: 'rejected', code: 'insufficient_balance', ourFault: false };
    await expect(adapter.createPayout(PAYOUT)).rejects.toMatchObject(refused);
    expect(await adapter.createPayout({ ...PAYOUT, idempotencyKey: 'again' })).toMatchObject({ status: 'paid' });
  });

  it('whose answer was lost is unknown, and the look-up finds it', async () => {
    await faults({ lose_answer: { calls: ['payouts.writes'], how: 'half' } });
    await expect(adapter.createPayout(PAYOUT)).rejects.toMatchObject({ kind: 'unknown' });
    expect(await adapter.findPayouts(PAYOUT.reference, SINCE)).toMatchObject([{ status: 'paid', amount: 90_000n }]);
  });

  it('and a charge of which a look-up fails are neither found nor absent', async () => {
    await faults({ error_before: { calls: ['reads'] } });
    await expect(adapter.findPayouts(PAYOUT.reference, SINCE)).rejects.toMatchObject({ kind: 'temporary' });
    await expect(adapter.findCharges('charge:1', 'cus_1', SINCE)).rejects.toMatchObject({ kind: 'temporary' });
  });
});

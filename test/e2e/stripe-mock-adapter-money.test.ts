import { execFile, spawn } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createStripeGateway } from '../../src/gateways/stripe/create-stripe-gateway.ts';

/** Nothing is too old to be looked for. */
const SINCE = new Date(0);

interface StripeMock {
  readonly url: string;
  stop(): void;
}

/** Knows every parameter of Stripe's API and nothing else, on free ports of 127.0.0.1. A string says why it cannot be had. */
async function startStripeMock(): Promise<StripeMock | string> {
  const folder = join(homedir(), '.cache', 'paidonce', 'bin');
  const binary = join(folder, 'stripe-mock');
  try {
    await access(binary).catch(async () => {
      await mkdir(folder, { recursive: true });
      process.stderr.write('Fetching stripe-mock, once …\n');
      const install = ['install', 'github.com/stripe/stripe-mock@latest'];
      await promisify(execFile)('go', install, { env: { ...process.env, GOBIN: folder }, timeout: 240_000 });
    });
  } catch (error) {
    return `stripe-mock cannot be had (${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)})`;
  }
  const addresses = ['-http-addr', '127.0.0.1:0', '-https-addr', '127.0.0.1:0'];
  const child = spawn(binary, addresses, { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = (): boolean => child.kill('SIGKILL');
  process.once('exit', end);
  const address = await new Promise<string | undefined>((resolve) => {
    child.once('exit', () => resolve(undefined));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, found] = /HTTP at address: (127\.0\.0\.1:\d+)/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return address === undefined ? 'stripe-mock ended before it listened' : { url: `http://${address}`, stop: end };
}

const started = await startStripeMock();
if (typeof started === 'string') {
  process.stderr.write(
    `SKIPPED: what the Stripe adapter sends for charges and payouts, against Stripe's API: ${started}\n`,
  );
}

describe.skipIf(typeof started === 'string')('what the Stripe adapter sends is taken by today’s API:', () => {
  const mock = started as StripeMock;
  const config = { name: 'shop', kind: 'stripe', mode: 'test', accountNumber: null, webhookSecrets: [] } as const;
  const at = (url: string): Gateway =>
    createStripeGateway({ ...config, apiBase: url, apiKey: 'sk_test_123' }, { toleranceMs: 300_000 });

  afterAll(() => mock.stop());

  const charge = {
    orderId: 'ord_1',
    customerId: 'cus_1',
    paymentMethod: 'pm_1',
    amount: 1999n,
    currency: 'EUR',
    reference: 'charge:1',
    idempotencyKey: 'charge:1',
  };
  const payout = {
    sellerId: 'seller_1',
    destination: 'ba_1',
    amount: 900n,
    currency: 'EUR',
    reference: 'payout:seller_1:2026-11-30',
    idempotencyKey: 'payout:seller_1:2026-11-30',
  };

  it('a charge', async () => {
    // Its one sample of a payment has failed; a request that it does not take is our fault.
    const declined = { code: 'card_declined', ourFault: false };
    await expect(at(mock.url).chargeSavedCard(charge)).rejects.toMatchObject(declined);
  });

  it('the look-up of a charge', async () => {
    expect(await at(mock.url).findCharges('charge:1', 'cus_1', SINCE)).toEqual([]);
  });

  it('a payout to a bank account', async () => {
    expect(await at(mock.url).createPayout(payout)).toMatchObject({ payoutId: expect.stringMatching(/^po_/) });
  });

  it('a payout to a connected account', async () => {
    const connected = { ...payout, destination: 'acct_1' };
    expect(await at(mock.url).createPayout(connected)).toMatchObject({ payoutId: expect.stringMatching(/^tr_/) });
  });

  it('the look-up of a payout', async () => {
    expect(await at(mock.url).findPayouts(payout.reference, SINCE)).toEqual([]);
  });

  it.each(['po_1', 'tr_1'])('a question about %s', async (id) => {
    expect(await at(mock.url).fetchPayout(id)).toMatchObject({ payoutId: id });
  });

  it.each(['pi_1', 'ch_1'])('a capture of a part of %s', async (paymentId) => {
    const order = {
      paymentId,
      amount: 10n,
      currency: 'EUR',
      reference: 'capture:shop:1',
      idempotencyKey: 'capture:shop:1',
    };
    expect(await at(mock.url).capturePayment(order)).toMatchObject({ paymentId: expect.stringMatching(/^(pi|ch)_/) });
  });

  it('a void', async () => {
    const order = {
      paymentId: 'pi_1',
      amount: 10n,
      currency: 'EUR',
      reference: 'void:shop:1',
      idempotencyKey: 'void:shop:1',
    };
    expect(await at(mock.url).voidPayment(order)).toMatchObject({ paymentId: expect.stringMatching(/^pi_/) });
  });

  it('and what it does not know is not taken', async () => {
    const body = new URLSearchParams({ amount: '900', currency: 'eur', destination: 'ba_1', seller: 'seller_1' });
    const headers = { authorization: 'Bearer sk_test_123' };
    const answer = await fetch(`${mock.url}/v1/payouts`, { method: 'POST', body, headers });
    expect(answer.status).toBe(400);
  });
});

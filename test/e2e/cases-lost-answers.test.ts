import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../support/scripted-server.ts';
import { openSystem, paymentEvent, type System } from '../support/system.ts';

let system: System;
let played: ScriptedServer;

/** What the played gateway does when it is asked to refund; and what it holds. */
type RefundScript = (made: {
  refund: PlayedRefund;
  attempt: number;
}) => 'done' | 'lost' | { status: number; code: string };
interface PlayedRefund {
  readonly refund_id: string;
  readonly payment_id: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly reference: string | null;
}
const scripts = new Map<string, RefundScript>();
const held: PlayedRefund[] = [];
/** A search by reference that runs behind: it shows nothing of these payments. */
const unsearchable = new Set<string>();

beforeAll(async () => {
  played = await startScriptedServer(({ method, path, body }, response) => {
    const url = new URL(path, 'http://played');
    if (method === 'POST') {
      const asked = JSON.parse(body) as { payment_id: string; amount: number; reference: string };
      const attempt = posts(asked.payment_id).length;
      const refund = { refund_id: `rf_${asked.payment_id}_${attempt}`, currency: 'EUR', status: 'succeeded', ...asked };
      const outcome = scripts.get(asked.payment_id)?.({ refund, attempt }) ?? 'done';
      if (outcome === 'lost') response.destroy();
      else if (outcome === 'done') sendJson(response, 201, refund);
      else sendJson(response, outcome.status, { code: outcome.code });
    } else if (url.pathname === '/refunds') {
      const [reference, payment] = ['reference', 'payment_id'].map((name) => url.searchParams.get(name));
      const data = held.filter((refund) =>
        reference === null
          ? refund.payment_id === payment
          : refund.reference === reference && !unsearchable.has(refund.payment_id),
      );
      sendJson(response, 200, { data });
    } else {
      const [, , payment_id = ''] = url.pathname.split('/').map(decodeURIComponent);
      // Its ids say to which order they belong.
      const order_id = payment_id.replace(/^pay_(.*)_(kept|extra)$/, 'ord_$1');
      sendJson(response, 200, { payment_id, order_id, status: 'captured', amount: 10_000, currency: 'EUR' });
    }
  });
  system = await openSystem({ played: { played: played.url } });
});
afterAll(async () => {
  await system.close();
  await played.close();
});
afterEach(async () => {
  await system.control('PUT', '/faults', {});
});

function posts(paymentId: string) {
  return played.requests.filter(({ method, body }) => method === 'POST' && body.includes(`"${paymentId}"`));
}

/** An order that is paid twice; the refund of the second payment is what a test looks at. */
async function payTwice(name: string, source: string): Promise<string> {
  await system.order({ id: `ord_${name}` });
  for (const which of ['kept', 'extra']) {
    const paymentId = `pay_${name}_${which}`;
    if (source === 'sim') await system.pay(paymentId, `ord_${name}`);
    await system.deliver(paymentEvent(paymentId, `ord_${name}`), { id: `evt_${name}_${which}`, source });
    await system.eventIs(`evt_${name}_${which}`, 'processed', source);
  }
  return `pay_${name}_extra`;
}

async function refundIs(paymentId: string, status: string): Promise<any> {
  return eventually(
    `the refund of ${paymentId} is ${status}`,
    async () => {
      const { rows } = await system.db.pool.query('select * from refunds where payment_id = $1 and status = $2', [
        paymentId,
        status,
      ]);
      return rows[0] as unknown;
    },
    40_000,
  );
}

describe('"already refunded" is read back before it is believed', () => {
  // Each waits out the gateway's settle time.
  it.concurrent.each([
    ['already_refunded', 422],
    ['refund_exceeds_captured', 422],
    ['already_refunded', 409],
  ])(
    '%s (%i) because the first answer was lost: what was wanted has happened, and that is success',
    async (code, status) => {
      const name = `twice_${code}_${status}`;
      // The work is done and its answer lost; the search runs behind, so that the second request cannot be avoided.
      scripts.set(`pay_${name}_extra`, ({ refund, attempt }) => {
        if (attempt > 1) return { status, code };
        held.push(refund);
        return 'lost';
      });
      unsearchable.add(`pay_${name}_extra`);
      const extra = await payTwice(name, 'played');
      expect(await refundIs(extra, 'succeeded')).toMatchObject({
        gateway_refund_id: `rf_${extra}_1`,
        failure_code: null,
      });
      expect(posts(extra)).toHaveLength(2);
      // One key for both, since nobody knew what became of the first.
      const keys = posts(extra).map(({ headers }) => headers['idempotency-key']);
      expect(keys).toEqual(Array(2).fill(`refund:extra_capture:played:${extra}`));
      expect(posts(`pay_${name}_kept`)).toEqual([]);
      expect(await system.count(`dead_letters where payment_id = $1`, extra)).toBe(0);
      await system.orderIs(`ord_${name}`, { status: 'paid', amount_paid: 10_000, amount_refunded: 0 });
    },
  );

  it('said of a payment that was not refunded at all: before a human, and never taken for success', async () => {
    scripts.set('pay_lie_extra', () => ({ status: 422, code: 'already_refunded' }));
    const extra = await payTwice('lie', 'played');
    expect(await refundIs(extra, 'needs_review')).toMatchObject({
      failure_code: 'already_refunded',
      gateway_refund_id: null,
    });
    expect(posts(extra)).toHaveLength(1);
    const { data } = (await system.call('GET', '/v1/dead-letters?limit=200')).body;
    expect(data[0]).toMatchObject({ kind: 'refund_failed', payment_id: extra, extra_capture: true, status: 'open' });
    expect(posts('pay_lie_kept')).toEqual([]);
  });

  it('said because somebody else gave a part back: the rest is given back, and together it is the whole', async () => {
    scripts.set('pay_part_extra', ({ refund, attempt }) => {
      if (attempt === 1) {
        // While our request was on its way, somebody refunded a part by hand.
        held.push({ ...refund, refund_id: 'rf_by_hand', amount: 3_000, reference: null });
        return { status: 422, code: 'refund_exceeds_captured' };
      }
      held.push(refund);
      return 'done';
    });
    const extra = await payTwice('part', 'played');
    expect(await refundIs(extra, 'succeeded')).toMatchObject({ kind: 'gateway', amount: 3_000n });
    await system.settled();
    const { refunds } = (await system.call('GET', '/v1/orders/ord_part')).body;
    expect(refunds.map(({ kind, amount, status }: any) => [kind, amount, status]).toSorted()).toEqual([
      ['extra_capture', 7_000, 'succeeded'],
      ['gateway', 3_000, 'succeeded'],
    ]);
    const keys = posts(extra).map(({ headers }) => String(headers['idempotency-key']));
    // Another amount is another request, and needs a key of its own.
    expect(new Set(keys).size).toBe(2);
  });
});

describe('a checkout whose answer is lost', () => {
  it.each(['cut', 'half', 'garble'])('is one payment at the gateway, and its page is found (%s)', async (how) => {
    await system.order({ id: `ord_page_${how}` });
    await system.control('PUT', '/faults', {
      lose_answer: { calls: ['payments.writes'], next: 1, how },
      forget_keys: 1,
    });
    const checkout = await system.call('POST', `/v1/orders/ord_page_${how}/checkout`, {
      ...{ key: `page_${how}`, body: { source: 'sim' } },
    });
    expect([201, 202]).toContain(checkout.status);
    const found = await eventually('the page is found', async () => {
      const { body } = await system.call('GET', `/v1/orders/ord_page_${how}/checkouts/1`);
      return body.status === 'succeeded' && body;
    });
    const { payments } = await system.control('GET', '/state');
    expect(payments.filter(({ order_id }: any) => order_id === `ord_page_${how}`)).toMatchObject([
      { payment_id: found.payment_id, checkout_url: found.checkout_url, amount: 10_000 },
    ]);
    await system.control('POST', `/payments/${found.payment_id}/capture`);
    await system.orderIs(`ord_page_${how}`, { status: 'paid', paid_payment_id: found.payment_id });
  });
});

describe('a request that is carried out only after its caller has given up', () => {
  it('is still one refund, or one payment: the look-up that finds nothing at first is not believed', async () => {
    // The callers wait until their own limit; the work begins after that, while they look and find nothing.
    await system.control('PUT', '/faults', {
      late_work: { calls: ['refunds.writes', 'payments.writes'], next: 2, how: 'hang', after_ms: [2_500, 2_500] },
      forget_keys: 1,
    });
    await system.order({ id: 'ord_late_page' });
    const checkOut = () =>
      system.call('POST', '/v1/orders/ord_late_page/checkout', { key: 'late_page', body: { source: 'sim' } });
    const [extra, checkout] = await Promise.all([payTwice('late', 'sim'), checkOut()]);
    expect(checkout.status).toBe(202);
    expect(checkout.headers.get('location')).toBe('/v1/orders/ord_late_page/checkouts/1');
    expect(Number(checkout.headers.get('retry-after'))).toBeGreaterThan(0);
    await refundIs(extra, 'succeeded');
    const page = await eventually('the page is found', async () => {
      const { body } = await system.call('GET', '/v1/orders/ord_late_page/checkouts/1');
      return body.status === 'succeeded' && body;
    });
    await system.control('POST', '/drain');
    const { refunds, payments, calls } = await system.control('GET', '/state');
    expect(refunds.filter(({ payment_id }: any) => payment_id === extra)).toMatchObject([
      { amount: 10_000, reference: `refund:extra_capture:sim:${extra}` },
    ]);
    expect(refunds.filter(({ payment_id }: any) => payment_id === 'pay_late_kept')).toEqual([]);
    expect(payments.filter(({ order_id }: any) => order_id === 'ord_late_page')).toMatchObject([
      { payment_id: page.payment_id },
    ]);
    // It was looked for before it was sent, and at least twice after its answer did not come.
    expect(calls['GET /refunds']).toBeGreaterThanOrEqual(3);
    // The stored answer is the one that was given, whatever came of it since.
    const again = await checkOut();
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([202, checkout.text, 'true']);
  });
});

it('leaves books in which every promise holds', async () => {
  await system.settled();
  await system.expectCleanAudit();
});

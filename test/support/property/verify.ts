import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { nothingLeft } from '../nothing-left.ts';
import type { Answer, System } from '../system.ts';
import { requestOf } from './intents.ts';
import type { Asked } from './play.ts';

/** A worker that was killed holds its work up for 10 s a time, and what may still be under way at the gateway for 5 s more. */
const SETTLED_MS = 150_000;

/** The request again, until it is neither lost nor still running. */
async function insist(system: System, run: string, { intent, key }: Asked, other: boolean): Promise<Answer> {
  const { path, body } = requestOf(run, intent, other);
  return eventually(
    `${path} under ${key} is answered`,
    async () => {
      const answer = await system.call('POST', path, { key, body }).catch(() => null);
      return answer !== null && answer.status < 500 && answer.body.code !== 'request_in_progress' && answer;
    },
    SETTLED_MS,
  );
}

/** Each key that was accepted has one effect and one answer; what was not accepted has none; and the books are clean. */
export async function verify(system: System, run: string, asked: readonly Asked[]): Promise<{ accepted: number }> {
  const owners = new Map<Asked, { other: boolean; text: string }>();
  for (const one of asked) {
    for (const other of one.sent) {
      const answer = await insist(system, run, one, other);
      if (answer.status >= 300) continue;
      expect(owners.has(one), `${one.key} was accepted with two bodies`).toBe(false);
      owners.set(one, { other, text: answer.text });
    }
    const owner = owners.get(one);
    for (const { other, answer } of one.heard.filter(({ answer: { status } }) => status < 300)) {
      expect({ key: one.key, other, text: answer.text }).toEqual({ key: one.key, ...owner });
    }
  }
  await nothingLeft(system.db.pool, SETTLED_MS);

  const { payments, refunds, payouts } = await system.control('GET', '/state');
  const made = [...payments, ...refunds, ...payouts].filter(({ reference }) => typeof reference === 'string');
  const expected: string[] = [];
  for (const [one, { other, text }] of owners) {
    const again = await insist(system, run, one, other);
    expect([again.status < 300, again.text], one.key).toEqual([true, text]);
    if (one.intent.kind === 'order') continue;
    const now = (await system.call('GET', again.headers.get('location') ?? '')).body;
    // Its order was paid by others before the card was charged: nothing was sent, which is counted below.
    const overtaken = one.intent.kind === 'charge' && now.failure_code === 'order_not_payable';
    expect(now, one.key).toMatchObject({ status: overtaken ? 'failed' : 'succeeded' });
    if (!overtaken) expected.push(now.workflow_id as string);
  }
  const automatic = /^refund:(extra|late)_capture:/;
  const ours = made.map(({ reference }) => reference as string);
  expect(ours.filter((reference) => !automatic.test(reference)).sort()).toEqual(expected.sort());
  const reserved = ours.filter((reference) => automatic.test(reference));
  expect(reserved, 'an extra capture goes back once').toEqual([...new Set(reserved)]);
  for (const payment of payments) {
    const given = refunds.filter(
      (refund: any) => refund.payment_id === payment.payment_id && refund.status !== 'failed',
    );
    const sum = given.reduce((total: number, { amount }: any) => total + (amount as number), 0);
    expect(sum, payment.payment_id).toBeLessThanOrEqual(payment.amount);
  }
  expect(await system.count(`dead_letters where status = 'open'`)).toBe(0);
  await system.expectCleanAudit();
  return { accepted: owners.size };
}

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startMailServer, type MailServer, type ReceivedMail } from '../support/mail-server.ts';
import type { TestProcess } from '../support/processes.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../support/scripted-server.ts';
import { openSystem, type System } from '../support/system.ts';

const ORDERS = 100;
const KILLS = 3;
/** A mail whose worker died with it in hand is taken up again when its lease is over, half a minute later. */
const SETTLED_MS = 120_000;

let system: System;
let mail: MailServer;
let slack: ScriptedServer;
/** What stood in the database about a mail while its sender had not heard yet that it was taken. */
const recordsAtArrival: (string | null)[] = [];

const orderOf = ({ headers }: ReceivedMail) => / for order (\S+)$/.exec(headers.get('subject') ?? '')?.[1] ?? '';

beforeAll(async () => {
  mail = await startMailServer({
    onRecipient: (address) => (address.startsWith('unknown@') ? 550 : null),
    // The time in which a sender that dies has sent a mail and does not know it.
    beforeAnswer: async (received) => {
      const record = await system.row<{ status: string }>(
        `select d.status from consumer_deliveries d where d.consumer = 'receipt' and d.order_id = $1`,
        orderOf(received),
      );
      recordsAtArrival.push(record?.status ?? null);
      await delay(100);
    },
  });
  slack = await startScriptedServer((_request, response) => sendJson(response, 200, 'ok'));
  system = await openSystem({
    config: {
      mail: { smtp_url: mail.url, from: 'Shop <receipts@shop.example>' },
      alerts: { slack_url: slack.url, email: ['ops@shop.example'] },
    },
  });
});
afterAll(async () => {
  await system.close();
  await mail.close();
  await slack.close();
});

async function paidOrder(id: string, email: string | null): Promise<void> {
  await system.order({ id, customer: { id: `cus_${id}`, ...(email === null ? {} : { email }) } });
  await system.control('POST', '/payments', {
    ...{ payment_id: `pay_${id}`, order_id: id, amount: 10_000, currency: 'EUR' },
  });
}

describe('of a hundred paid orders, while workers and their relays are killed,', () => {
  beforeAll(async () => {
    const workers: TestProcess[] = [system.worker, await system.startWorker()];
    const shop = async () => {
      for (let n = 0; n < ORDERS; n += 1) await paidOrder(`ord_${n}`, `customer-${n}@customers.example`);
    };
    const restarts: Promise<void>[] = [];
    const havoc = async () => {
      for (let n = 0; n < KILLS; n += 1) {
        // In the middle of sending: what this is about is a death between the mail server's answer and the record.
        const before = mail.mails.length;
        await eventually(
          'further mails came',
          async () => mail.mails.length >= Math.min(before + 5, ORDERS),
          SETTLED_MS,
        );
        const victim = workers[n % workers.length];
        await victim?.kill('SIGKILL');
        // The next one does not wait until it is back: for a while there may be none.
        restarts.push(victim?.restart() ?? Promise.resolve());
      }
    };
    await Promise.all([shop(), havoc()]);
    await Promise.all(restarts);
    await eventually(
      'every receipt is recorded',
      async () => (await system.count(`consumer_deliveries where consumer = 'receipt' and status = 'done'`)) === ORDERS,
      SETTLED_MS,
    );
  }, 300_000);

  it('each customer gets a receipt, and a second copy only under the same Message-ID', async () => {
    const ids = new Map<string, Set<string>>();
    for (const received of mail.mails) {
      const order = orderOf(received);
      expect(received.to).toEqual([`customer-${order.slice(4)}@customers.example`]);
      ids.set(order, (ids.get(order) ?? new Set()).add(received.headers.get('message-id') ?? ''));
    }
    expect(ids.size).toBe(ORDERS);
    for (const known of ids.values()) expect(known.size).toBe(1);
    expect(new Set([...ids.values()].flatMap((known) => [...known])).size).toBe(ORDERS);
    const bodies = new Set(mail.mails.map(({ parts }) => JSON.stringify([...parts])));
    expect(bodies.size).toBe(ORDERS);
    expect(await system.count(`processed_events where consumer = 'receipt'`)).toBe(ORDERS);
  });

  it('no mail goes out without its record', () => {
    expect(recordsAtArrival.length).toBe(mail.mails.length);
    expect(new Set(recordsAtArrival)).toEqual(new Set(['in_progress']));
  });

  it("no customer's address stands in any workflow's history", async () => {
    const { client } = system.temporal;
    let seen = 0;
    for await (const { workflowId, runId } of client.workflow.list()) {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      // Payloads are bytes: their text is what is searched.
      const text = JSON.stringify(history, (_name, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString() : value,
      );
      expect(text).not.toContain('customers.example');
      seen += 1;
    }
    expect(seen).toBeGreaterThanOrEqual(ORDERS);
  }, 120_000);
});

describe('a receipt', () => {
  it('that has no address to go to is skipped, and the timeline says so', async () => {
    await paidOrder('ord_silent', null);
    await eventually('the timeline tells it', async () => {
      const { body } = await system.call('GET', '/v1/payments/sim/pay_ord_silent/timeline');
      return body.data.some(
        ({ kind, text }: any) => kind === 'mail' && text === 'receipt not sent: the customer has no e-mail address',
      );
    });
  });

  it('that the mail server refuses for good goes before a person at once, who is told; no address is told to anybody', async () => {
    const before = slack.requests.length;
    await paidOrder('ord_refused', 'unknown@customers.example');
    const letter = await eventually('there is a dead letter', () =>
      system.row<{ id: string; last_error: string }>(
        `select id, last_error from dead_letters where order_id = 'ord_refused'`,
      ),
    );
    expect(letter.last_error).toContain('550');
    await eventually('Slack is told', async () => slack.requests.length > before);
    await eventually('mail, too', async () =>
      mail.mails.some(({ headers }) => headers.get('subject') === '[paidonce] A person is needed: delivery_failed'),
    );
    expect(slack.requests.at(-1)?.body).toContain('ord_refused');
    const told = [letter.last_error, ...slack.requests.map(({ body }) => body), system.worker.logs()].join('\n');
    expect(told).not.toContain('customers.example');
    const { status } = await system.call('POST', `/v1/dead-letters/${encodeURIComponent(letter.id)}/decide`, {
      body: { action: 'give_up', note: 'wrong address' },
    });
    expect(status).toBe(200);
    await system.expectCleanAudit();
  });
});

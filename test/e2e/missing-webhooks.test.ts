import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { TASK_QUEUE } from '../../src/workflows/messages.ts';
import { openCommandLine, type CommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { openSystem, type System } from '../support/system.ts';

// A command is a process of its own, which takes seconds to start on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let system: System;
let commands: CommandLine;
beforeAll(async () => {
  // Whatever is listed is old enough to be missed.
  system = await openSystem({ policies: { missing_webhook_after: '1ms' } });
  // A run of its own in the middle of a test would find what the test looks for.
  await system.temporal.client.schedule.getHandle('find-missing-webhooks:sim').pause();
  const { sim } = system.gateways;
  commands = openCommandLine({
    ...{ api_url: system.servers[0]?.url, api_key: system.apiKey, database_url: system.db.url },
    ...{ simulator_url: sim?.url, sources: { sim: { webhook_secret: sim?.webhookSecret } } },
  });
}, 120_000);
afterAll(async () => {
  commands.remove();
  await system.close();
});
afterEach(() => system.control('PUT', '/faults', {}));

/** A payment for an order at the gateway, announced as the faults allow; answers the event's id. */
async function payAtGateway(name: string, faults: object = {}): Promise<string> {
  await system.order({ id: `ord_${name}` });
  await system.control('PUT', '/faults', faults);
  const payment = { payment_id: `pay_${name}`, order_id: `ord_${name}`, amount: 10_000, currency: 'EUR' };
  return (await system.control<{ event_id: string }>('POST', '/payments', payment)).event_id;
}

const eventOf = async (id: string) => (await system.call('GET', `/v1/events/sim/${id}`)).body;

describe('a webhook that the gateway never sends', () => {
  it('is found by hand, with a line of what was found; its order is paid, and a person can tell how', async () => {
    const id = await payAtGateway('dropped', { drop: 1 });
    const { exitCode, out } = await commands.run(['reconcile']);
    expect(exitCode).toBe(0);
    expect(out).toContain(`sim: 1 events listed at the gateway, 1 of them had never come.\n  ${id}\n`);
    await system.orderIs('ord_dropped', { status: 'paid' });
    expect(await eventOf(id)).toMatchObject({ found_at: expect.any(String), deliveries: [], state: 'processed' });
    const timeline = (await system.call('GET', '/v1/payments/sim/pay_dropped/timeline')).body;
    expect(timeline.data[0]).toMatchObject({ kind: 'found', text: expect.stringContaining('its webhook never came') });
    expect(system.worker.logs()).toContain('check the address and the secret of the webhook at the gateway');
  });

  it('and sends after all is a repeat, with one effect', async () => {
    const id = await payAtGateway('late', { drop: 1 });
    const answer = await system.call('POST', '/v1/reconcile', { body: { source: 'sim' } });
    expect(answer).toMatchObject({
      ...{
        status: 200,
        body: {
          data: [
            { missing_webhooks: { status: 'completed', found: 1, examples: [id], unfinished: false, problem: null } },
          ],
        },
      },
    });
    await system.orderIs('ord_late', { status: 'paid' });
    await system.control('POST', `/events/${id}/redeliver`);
    await system.control('POST', '/drain');
    expect((await eventOf(id)).deliveries).toHaveLength(1);
    await system.settled();
    await system.orderIs('ord_late', { status: 'paid', amount_paid: 10_000, surplus: 0 });
    const timeline = (await system.call('GET', '/v1/payments/sim/pay_late/timeline')).body.data.map(
      (one: any) => one.text,
    );
    expect(timeline).toEqual(
      expect.arrayContaining([expect.stringContaining(`${id} found at the gateway; its webhook had not come`)]),
    );
    await system.expectCleanAudit();
  });

  it('is found when it appears late in the list', async () => {
    const id = await payAtGateway('hidden', { drop: 1, list_late: [800, 800] });
    await payAtGateway('after', { drop: 1 });
    await eventually('it is found', async () => {
      await system.call('POST', '/v1/reconcile', { body: {} });
      return (await eventOf(id)).found_at !== undefined;
    });
    await system.orderIs('ord_hidden', { status: 'paid' });
  });

  it('is found by the schedule', async () => {
    await payAtGateway('scheduled', { drop: 1 });
    await system.temporal.client.schedule.getHandle('find-missing-webhooks:sim').trigger();
    await system.orderIs('ord_scheduled', { status: 'paid' });
  });
});

describe('twenty webhooks that come while they are listed', () => {
  it('pay twenty orders once', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `race_${at}`);
    const searches: Promise<unknown>[] = [];
    for (const name of names) {
      await payAtGateway(name);
      searches.push(system.call('POST', '/v1/reconcile', { body: {} }));
    }
    await Promise.all(searches);
    await Promise.all(names.map((name) => system.orderIs(`ord_${name}`, { status: 'paid', amount_paid: 10_000 })));
    await system.control('POST', '/drain');
    await system.settled();
    expect(await system.count(`webhook_events where payment_id like 'pay_race_%'`)).toBe(20);
    await system.expectCleanAudit();
  });
});

describe('a worker that is killed in the middle of the list', () => {
  it('loses nothing: the next run finds the rest, and each event once', async () => {
    await system.control('PUT', '/faults', { drop: 1, slow_ms: { ms: [200, 200], calls: ['events'] } });
    for (let at = 0; at < 450; at += 1) {
      const data = { payment_id: `pay_kill_${at}`, order_id: null, status: 'pending', amount: 1, currency: 'EUR' };
      await system.control('POST', '/events', { id: `evt_kill_${at}`, type: 'payment.pending', data });
    }
    const found = () => system.count(`webhook_events where event_id like 'evt_kill_%'`);
    await system.call('POST', '/v1/reconcile', { body: {}, signal: AbortSignal.timeout(20) }).catch(() => undefined);
    await eventually('a part of them is found', async () => (await found()) > 0);
    await system.worker.kill('SIGKILL');
    const before = await found();
    expect(before).toBeLessThan(450);
    await system.control('PUT', '/faults', {});
    await system.worker.restart();
    await eventually(
      'all are found',
      async () => {
        await system.call('POST', '/v1/reconcile', { body: {} });
        return (await found()) === 450;
      },
      60_000,
    );
    expect(await system.count(`webhook_deliveries where found and event_id like 'evt_kill_%'`)).toBe(450);
  });
});

describe('the audit that runs by itself', () => {
  it('names a broken promise where people and machines look', async () => {
    const run = () =>
      system.temporal.client.workflow.execute('audit', { workflowId: 'audit', taskQueue: TASK_QUEUE, args: [] });
    const ready = async () => (await system.call('GET', '/readyz')).body;
    const counts = async () => (await system.call('GET', '/metrics')).text;
    await system.temporal.client.schedule.getHandle('audit').trigger();
    await eventually('it has run', async () => (await system.count('audit_results')) === 1);
    expect(await ready()).toMatchObject({ status: 'ok', audit: 'ok', audit_violations: [] });
    expect(await counts()).not.toContain('paidonce_audit_violations{');
    await system.row(`update orders set amount_refunded = 1 where id = 'ord_dropped'`);
    await run();
    const broken = await ready();
    expect(broken).toMatchObject({ status: 'ok', audit: 'degraded' });
    expect(broken.audit_violations).toContain('order_amount_refunded');
    expect(await counts()).toContain('paidonce_audit_violations{invariant="order_amount_refunded"} 1');
    await system.row(`update orders set amount_refunded = 0 where id = 'ord_dropped'`);
    await run();
    expect(await ready()).toMatchObject({ audit: 'ok', audit_violations: [] });
  });
});

import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createExecuteRefund } from '../../../src/activities/execute-refund.ts';
import type { Dependencies } from '../../../src/activities/dependencies.ts';
import { createSettlePayment } from '../../../src/activities/settle-payment.ts';
import { admitted } from '../../../src/gateways/admitted.ts';
import { cancelOrder } from '../../../src/database/cancel-order.ts';
import { createOrder } from '../../../src/database/create-order.ts';
import { expireOrder } from '../../../src/database/expire-order.ts';
import { inTransaction, type Pool } from '../../../src/database/pool.ts';
import { reserveRefund } from '../../../src/database/reserve-refund.ts';
import { reserveTopUp } from '../../../src/database/reserve-top-up.ts';
import { storeDelivery } from '../../../src/database/store-delivery.ts';
import { DEFAULT_POLICIES } from '../../../src/domain/policies.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { TEN, type Happening, type Scenario, type Step, type Webhook } from './scenario.ts';
import { gatewaysOf, mark, tagOf, Truth } from './truth.ts';

/**
 * What the gateway shows while its events come: everything at once; no less than what was delivered, in the order in which it
 * happened; as from a replica that lags, only what was delivered before; or now the one and now the other, so that a later look
 * shows less than an earlier one did.
 */
export const SHOWINGS = ['all of it', 'what was delivered', 'what was delivered before', 'now all, now less'] as const;
export type Showing = (typeof SHOWINGS)[number];

/** Plays orders of delivery against one database, as API, workflow and relay do it together. */
export function createPlayer(pool: Pool, scenario: Pick<Scenario, 'policies'>) {
  const truths = new Map<string, Truth>();
  const policies = { ...DEFAULT_POLICIES, ...scenario.policies };
  const sources = gatewaysOf((id) => {
    const truth = truths.get(tagOf(id) ?? '');
    if (truth === undefined) throw new Error(`Nobody plays ${id}.`);
    return truth;
  });
  const deps: Dependencies = {
    ...{ pool, sources, policies, metrics: createMetrics(), wakeRelay: () => undefined },
    alerts: { channels: [], remindAfterMs: 0 },
    ...{ consumers: [], log: createLogger('silent', 'test') },
    confirmPayment: () => Promise.reject(new Error('Nobody asks that here.')),
    restartUnfinished: () => Promise.reject(new Error('Nothing is restarted here.')),
  };
  return {
    /** One order of delivery, under a mark of its own. */
    begin(tag: string, told: Scenario): Play {
      const truth = new Truth(tag, [...(told.before ?? []), ...told.steps].flatMap(happenedIn));
      truths.set(tag, truth);
      return new Play(deps, truth, tag, told);
    },
  };
}

function happenedIn(step: Step | undefined): readonly Happening[] {
  return step?.does === 'webhook' ? step.happened : [];
}

/** That an attempt is followed by another one is part of the story. */
const QUIET = new DefaultLogger('ERROR');
/** The engine's clock: what comes in comes seconds apart. */
const APART_MS = 2_000;
/** From five seconds to an hourly look over a day for an order that does not come. */
const MOST_LOOKS = 60;

export class Play {
  private at = Date.now();
  /** When each payment is looked at again, by source and id. */
  private readonly nextLooks = new Map<string, number>();
  private readonly asked: Step[] = [];
  private readonly deps: Dependencies;
  private readonly truth: Truth;
  private readonly tag: string;
  private readonly told: Scenario;

  constructor(deps: Dependencies, truth: Truth, tag: string, told: Scenario) {
    this.deps = deps;
    this.truth = truth;
    this.tag = tag;
    this.told = told;
  }

  async run(order: readonly number[], showing: Showing): Promise<void> {
    const { steps } = this.told;
    await this.begin();
    let shown = 0;
    const show = (upTo: number) => {
      for (; shown < upTo; shown += 1) this.truth.advance(happenedIn(steps[shown]).length);
    };
    const replica = new Truth(this.tag, steps.flatMap(happenedIn));
    let heard = 0;
    const hear = (upTo: number) => {
      for (; heard < upTo; heard += 1) replica.advance(happenedIn(steps[heard]).length);
    };
    if (showing === 'all of it' || showing === 'now all, now less') show(steps.length);
    if (showing === 'now all, now less') this.truth.lagBehind(replica);
    let delivered = 0;
    for (const n of order) {
      const step = steps[n];
      if (step === undefined) continue;
      if (showing === 'what was delivered') show(n + 1);
      if (showing === 'what was delivered before') show(delivered);
      hear(delivered);
      delivered = Math.max(delivered, n + 1);
      await this.do(step);
      if (showing !== 'all of it' && !this.told.refundsWait) await this.runReservedRefunds();
      this.at += APART_MS;
      await this.lookWhereDue();
    }
    show(steps.length);
    hear(steps.length);
    await this.end();
  }

  /** All of them in the same instant; one that fails is begun again, as Temporal does. */
  async runAtOnce(): Promise<void> {
    const { steps } = this.told;
    await this.begin();
    this.truth.advance(steps.flatMap(happenedIn).length);
    await Promise.all(steps.map((step) => this.do(step).catch(() => this.do(step))));
    await this.end();
  }

  /** The order unless a step makes it, and what came before. */
  async begin(): Promise<void> {
    const { steps, before = [] } = this.told;
    if (![...steps, ...before].some((step) => step.does === 'create order')) await this.do({ does: 'create order' });
    for (const step of before) {
      this.truth.advance(happenedIn(step).length);
      await this.do(step);
      this.at += APART_MS;
    }
  }

  /** Runs until nothing waits, and nothing is reserved and not yet done. */
  async end(): Promise<void> {
    for (let looks = 0; ; looks += 1) {
      for (const step of this.asked.splice(0)) await this.do(step);
      await this.runReservedRefunds();
      const next = Math.min(...this.nextLooks.values());
      if (!Number.isFinite(next)) return;
      if (looks > MOST_LOOKS) throw new Error('It goes on waiting.');
      this.at = Math.max(this.at, next);
      await this.lookWhereDue();
    }
  }

  async do(step: Step): Promise<void> {
    switch (step.does) {
      case 'webhook':
        return this.deliver(step);
      case 'create order':
        return this.makeOrder();
      case 'confirm':
        return this.settle(step.source, this.mark(step.paymentId), { callers: [this.mark(step.caller)] });
      case 'cancel': {
        const cause = this.mark('cancel:~');
        await cancelOrder(this.deps.pool, { orderId: this.mark('ord_1~'), policies: this.deps.policies, cause });
        return;
      }
      case 'expire':
        await expireOrder(this.deps.pool, {
          orderId: this.mark('ord_1~'),
          at: new Date(this.at),
          policies: this.deps.policies,
        });
        return;
      case 'ask for refund':
        return this.askForRefund(step);
      case 'run refund':
        return this.runRefund(this.mark(step.id));
      case 'reserve top-up':
        await inTransaction(this.deps.pool, (tx) =>
          reserveTopUp(tx, {
            ...{ id: this.mark(step.id), walletId: this.mark('wal_1~'), source: 'sim', customerId: 'cus_1' },
            ...{ paymentMethod: 'pm_1', amount: 10_000n, currency: 'EUR', requestedBy: 'test' },
          }),
        );
    }
  }

  /** One look of the payment's workflow, and more while there is more. */
  async settle(
    source: string,
    paymentId: string,
    asks: { callers?: readonly string[]; look?: boolean } = {},
  ): Promise<void> {
    const settlePayment = createSettlePayment(this.deps);
    const key = JSON.stringify([source, paymentId]);
    for (let more = true; more;) {
      const seen = await settlePayment({ source, paymentId, callers: [], look: false, ...asks, at: this.at });
      more = seen?.more ?? false;
      if (seen === null) continue;
      if (seen.nextLookMs === null) this.nextLooks.delete(key);
      else this.nextLooks.set(key, this.at + seen.nextLookMs);
    }
  }

  private mark(text: string): string {
    return mark(text, this.tag);
  }

  /** As the API stores it and hands it over. */
  private async deliver({ source: name, headers: told, body: written }: Webhook): Promise<void> {
    const source = this.deps.sources.get(name);
    if (source === undefined) throw new Error(`There is no source ${name}.`);
    const body = Buffer.from(this.mark(JSON.stringify(written)));
    const headers = JSON.parse(this.mark(JSON.stringify(told))) as Record<string, string>;
    const bodySha256 = createHash('sha256').update(body).digest();
    const stored = await storeDelivery(this.deps.pool, {
      ...admitted(this.deps.policies, source, body, headers, bodySha256),
      ...{ source: name, body, bodySha256, headers: JSON.stringify(headers), remoteAddress: null },
    });
    if (stored.handOver !== null) await this.settle(name, stored.handOver.paymentId);
  }

  private async makeOrder(): Promise<void> {
    const { lines = TEN, currency = 'EUR', expires = false } = this.told.order ?? {};
    const made = await inTransaction(this.deps.pool, (tx) =>
      createOrder(tx, {
        ...{ id: this.mark('ord_1~'), currency, customer: { id: 'cus_1', email: null, name: null } },
        amount: lines.reduce((sum, line) => sum + line.amount, 0n),
        lines: lines.map((line) => ({
          ...line,
          kind: line.kind as 'enrolment',
          quantity: line.quantity ?? 1,
          reference: null,
        })),
        ...{ expiresAt: expires ? new Date(this.at - 3_600_000) : null, createdBy: 'test' },
      }),
    );
    if (made === 'exists') throw new Error('The order was made twice.');
    for (const { source, paymentId } of made.woken) await this.settle(source, paymentId);
  }

  /** A shop asks for it when it can: at once, or again when all has come. */
  private async askForRefund(step: Extract<Step, { does: 'ask for refund' }>): Promise<void> {
    const request = {
      id: this.mark(step.id),
      source: 'sim',
      paymentId: this.mark(step.paymentId),
      amount: step.amount,
    };
    const { result } = await inTransaction(this.deps.pool, (tx) =>
      reserveRefund(tx, { ...request, reason: null, requestedBy: 'test' }),
    );
    if (result === 'payment_not_found' || result === 'payment_not_refundable') this.asked.push(step);
    else if (result !== 'reserved') throw new Error(`${step.id}: ${result}`);
  }

  private async runReservedRefunds(): Promise<void> {
    const { rows } = await this.deps.pool.query<{ id: string }>(
      `select id from refunds where status = 'pending' and gateway_refund_id is null and payment_id like $1`,
      [`%~${this.tag}`],
    );
    for (const { id } of rows) await this.runRefund(id);
  }

  /** The refund's own workflow; the gateway tells of it by an event as well. */
  private async runRefund(id: string): Promise<void> {
    await this.executeRefund(id);
    const { rows } = await this.deps.pool.query<{
      source: string;
      payment_id: string;
      gateway_refund_id: string | null;
    }>('select source, payment_id, gateway_refund_id from refunds where id = $1', [id]);
    const [refund] = rows;
    if (refund?.source !== 'sim' || refund.gateway_refund_id === null) return;
    const data = { payment_id: refund.payment_id, refund_id: refund.gateway_refund_id, status: 'succeeded' };
    const body = { type: 'refund.succeeded', timestamp: '2026-11-30T12:00:00Z', data };
    await this.deliver({
      ...{ does: 'webhook', source: 'sim', body, happened: [] },
      headers: { 'webhook-id': `evt_of_${refund.gateway_refund_id}` },
    });
  }

  /** Again at once where the activity says so, as Temporal does. */
  private async executeRefund(id: string): Promise<void> {
    const environment = new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: this.at }, { logger: QUIET });
    try {
      await environment.run(createExecuteRefund(this.deps), id);
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || error.type !== 'RefundShrunk') throw error;
      await this.executeRefund(id);
    }
  }

  private async lookWhereDue(): Promise<void> {
    for (const [key, due] of [...this.nextLooks]) {
      const [source = '', paymentId = ''] = JSON.parse(key) as string[];
      if (due <= this.at) await this.settle(source, paymentId, { look: true });
    }
  }
}

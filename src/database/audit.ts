import type { Pool, PoolClient } from 'pg';
import { scaledLoyaltyRate } from '../domain/loyalty.ts';
import { DEFAULT_POLICIES } from '../domain/policies.ts';
import { VIOLATOR_IDS, type Check } from './audit/check.ts';
import { consequenceChecks } from './audit/consequences.ts';
import { DELIVERY_CHECKS } from './audit/deliveries.ts';
import { DISPUTE_CHECKS } from './audit/disputes.ts';
import { EVENT_CHECKS } from './audit/events.ts';
import { HISTORY_CHECKS } from './audit/history.ts';
import { LEDGER_CHECKS } from './audit/ledger.ts';
import { MOVE_CHECKS } from './audit/moves.ts';
import { ORDER_CHECKS } from './audit/orders.ts';
import { OUTBOX_CHECKS } from './audit/outbox.ts';
import { PAYMENT_CHECKS } from './audit/payments.ts';
import { REFUND_CHECKS } from './audit/refunds.ts';
import { DECISION_CHECKS } from './audit/decisions.ts';
import { WALLET_CHECKS } from './audit/wallets.ts';
import { inTransaction } from './pool.ts';

/** One row that breaks an invariant, with every id of it that is known. */
export interface Violation extends Readonly<Partial<Record<(typeof VIOLATOR_IDS)[number], string>>> {
  readonly invariant: string;
  /** The rule that is broken, as docs/guarantees.md numbers them. */
  readonly requirement: string;
  /** What is promised, as a sentence. */
  readonly promise: string;
  /** What is there instead. */
  readonly detail: string;
}

export interface AuditReport {
  readonly ok: boolean;
  /** How many invariants were checked, each on all rows. */
  readonly checked: number;
  readonly violations: readonly Violation[];
}

export interface AuditOptions {
  /** The policy's rate, by which orders are judged that do not know the rate at which they earned. */
  readonly loyaltyPointsPerMajorUnit?: number;
}

/** On a large database one check reads every row of a table once. */
const CHECK_TIMEOUT_MS = 120_000;
/**
 * One moment for all checks. They read whole tables and join them by keys: sorting and hashing in memory suits them, and a
 * nested loop, chosen because statistics are old, would take hours.
 */
const SETTINGS = `
  set transaction isolation level repeatable read, read only;
  set local statement_timeout = ${CHECK_TIMEOUT_MS};
  set local work_mem = '64MB';
  set local enable_nestloop = off;
  set local jit = off`;
/** A mistake that concerns every order is told by its first examples. */
const MOST_VIOLATIONS = 1_000;

/**
 * Checks every invariant on the whole database, as it stands at one moment, and names each violation. Writes nothing, and
 * may run beside everything else.
 *
 * @throws DatabaseUnavailable
 */
export async function runAudit(pool: Pool, options: AuditOptions = {}): Promise<AuditReport> {
  return inTransaction(pool, async (tx) => {
    await tx.query(SETTINGS);
    return auditIn(tx, options);
  });
}

/** The same inside a transaction of the caller's. */
export async function auditIn(tx: PoolClient, options: AuditOptions = {}): Promise<AuditReport> {
  const rate = options.loyaltyPointsPerMajorUnit ?? DEFAULT_POLICIES.loyaltyPointsPerMajorUnit;
  const checks = await readChecks(tx);
  const violations: Violation[] = [];
  for (const check of checks) violations.push(...(await violators(tx, check, scaledLoyaltyRate(rate))));
  return { ok: violations.length === 0, checked: checks.length, violations };
}

async function readChecks(tx: PoolClient): Promise<readonly Check[]> {
  const { rows } = await tx.query<{ currency: string }>('select distinct currency from orders');
  return checksOf(rows.map(({ currency }) => currency));
}

/** Every invariant, for a database whose orders are in these currencies. */
export function checksOf(currencies: readonly string[]): readonly Check[] {
  return [
    ...ORDER_CHECKS,
    ...PAYMENT_CHECKS,
    ...REFUND_CHECKS,
    ...MOVE_CHECKS,
    ...DISPUTE_CHECKS,
    ...WALLET_CHECKS,
    ...DECISION_CHECKS,
    ...consequenceChecks(currencies),
    ...LEDGER_CHECKS,
    ...EVENT_CHECKS,
    ...OUTBOX_CHECKS,
    ...DELIVERY_CHECKS,
    ...HISTORY_CHECKS,
  ];
}

type Violator = { detail: string } & Partial<Record<(typeof VIOLATOR_IDS)[number], string | null>>;

async function violators(tx: PoolClient, { sql, ...check }: Check, scaledRate: bigint): Promise<Violation[]> {
  const query = {
    text: `select * from (${sql}) as v limit ${MOST_VIOLATIONS}`,
    values: sql.includes('$1') ? [scaledRate] : [],
    query_timeout: CHECK_TIMEOUT_MS,
  };
  const { rows } = await tx.query<Violator>(query);
  return rows.map((row) => {
    const ids = VIOLATOR_IDS.flatMap((id) => (row[id] == null ? [] : [[id, row[id]]]));
    return {
      ...check,
      detail: row.detail,
      ...(Object.fromEntries(ids) as Partial<Record<(typeof VIOLATOR_IDS)[number], string>>),
    };
  });
}

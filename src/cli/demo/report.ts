import { formatMoney } from '../../domain/money.ts';
import type { AuditReport } from '../../database/audit.ts';
import { tableOf } from '../output.ts';
import type { Settled } from './await-settled.ts';
import type { Driven } from './drive-storm.ts';
import type { Outcome } from './expect-storm.ts';
import type { Storm } from './plan-storm.ts';

export interface DemoReport {
  readonly run: string;
  readonly seed: number;
  /** Every figure of ours is as expected, and the audit found nothing. */
  readonly ok: boolean;
  readonly seconds: number;
  /** What came down on us. */
  readonly storm: Readonly<Record<string, number>>;
  /** What the calls heard that said that a browser came back. */
  readonly confirmed: Readonly<Record<string, number>>;
  readonly expected: Outcome;
  readonly paidonce: Outcome;
  /** Null where the example was not installed along. */
  readonly naive: Outcome | null;
  readonly audit: AuditReport;
}

const LABELS: Readonly<Record<keyof Outcome, string>> = {
  ordersPaid: 'orders paid',
  ordersNotPaid: 'orders not paid (failed, or in part)',
  enrolments: 'enrolments',
  loyaltyPoints: 'loyalty points',
  giftCards: 'gift cards',
  packages: 'packages',
  receipts: 'receipts announced',
  secondPaymentsFound: 'second payments found',
  refunds: 'refunds at the gateway',
  refundedAmount: 'given back',
  chargedTwice: 'customers charged twice for good',
};
const ROWS = Object.keys(LABELS) as (keyof Outcome)[];

const STORM_LABELS: Readonly<Record<string, string>> = {
  deliveries: 'webhooks delivered',
  events: 'distinct events',
  repeats: 'repeats',
  reorder: 'held back so that later ones overtook them',
  lose_ack: 'acknowledgements lost',
  confirms: 'browsers that came back',
  rate_limit: "gateway's 429",
  error_before: "gateway's 503",
  error_after: "gateway's 500 after the refund was done",
  lose_answer: 'answers to refunds lost after they were done',
  late_work: 'refunds done after the connection was cut',
};

/** What happened at ours: from the database, and for refunds from the gateway itself. */
export function ourOutcome(storm: Storm, { counts, gateway }: Settled): Outcome {
  const ours = new Set(storm.orders.flatMap(({ payments }) => payments.map(({ id }) => id)));
  const refunds = gateway.refunds.filter((refund) => ours.has(refund.payment_id) && refund.status === 'succeeded');
  const refunded = new Set(refunds.map((refund) => refund.payment_id));
  const twice = storm.orders.filter(({ fate }) => fate === 'paid_twice');
  const ordersPaid = Number(counts.ordersPaid);
  return {
    ordersPaid,
    ordersNotPaid: storm.orders.length - ordersPaid,
    enrolments: Number(counts.enrolments),
    loyaltyPoints: Number(counts.loyaltyPoints),
    giftCards: Number(counts.giftCards),
    packages: Number(counts.packages),
    receipts: Number(counts.receipts),
    secondPaymentsFound: Number(counts.extraCaptures),
    refunds: refunds.length,
    refundedAmount: refunds.reduce((sum, { amount }) => sum + amount, 0),
    chargedTwice: twice.filter(({ payments }) => payments.every(({ id }) => !refunded.has(id))).length,
  };
}

export function stormFigures({ counts, gateway }: Settled, { confirmed }: Driven): Record<string, number> {
  const deliveries = Number(counts.deliveries);
  const events = Number(counts.events);
  const confirms = Object.values(confirmed).reduce((sum, n) => sum + n, 0);
  return { deliveries, events, repeats: deliveries - events, confirms, ...gateway.faults_met };
}

export function isAsExpected(ours: Outcome, expected: Outcome): boolean {
  return ROWS.every((row) => ours[row] === expected[row]);
}

/** One table, and the verdict. */
export function reportText(report: DemoReport): string {
  const { expected, paidonce, naive, audit } = report;
  const came = Object.entries(STORM_LABELS).flatMap(([name, label]) =>
    report.storm[name] === undefined ? [] : [[label, '', String(report.storm[name]), '']],
  );
  const happened = ROWS.map((row) => [
    LABELS[row],
    figure(row, expected[row]),
    `${paidonce[row] === expected[row] ? '' : '✗ '}${figure(row, paidonce[row])}`,
    naive === null ? '–' : `${naive[row] === expected[row] ? '' : '✗ '}${figure(row, naive[row])}`,
  ]);
  const table = tableOf(
    ['', 'expected', 'paidonce', 'naive handler'],
    [...came, ['', '', '', ''], ...happened],
    ['left', 'right', 'right', 'right'],
  );
  return [
    table,
    '',
    audit.ok
      ? `Audit: all ${audit.checked} invariants hold.`
      : `Audit: ${audit.violations.length} violations, such as ${audit.violations[0]?.invariant ?? ''}: ${audit.violations[0]?.detail ?? ''} (npx paidonce audit names all).`,
    report.ok
      ? `Every payment counted once, every second one given back once. (seed ${report.seed}, ${report.seconds} s)`
      : `paidonce went wrong: see the rows marked ✗ and the audit. Again with --seed ${report.seed}.`,
    ...(naive === null ? [] : ['The naive handler got the same webhooks as paidonce: examples/naive shows it.']),
  ].join('\n');
}

function figure(row: keyof Outcome, value: number): string {
  return row === 'refundedAmount' ? formatMoney({ amount: BigInt(value), currency: 'EUR' }) : String(value);
}

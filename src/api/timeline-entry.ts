import type { TimelineRow } from '../database/read-timeline.ts';
import { formatMoney } from '../domain/money.ts';
import type { TimelineKind } from '../domain/timeline-kinds.ts';

/** One line of a payment's timeline, for a support person. */
export interface TimelineEntry {
  readonly at: string;
  readonly kind: TimelineKind;
  readonly text: string;
}

type Data = TimelineRow['data'];

/** The consumer that sends receipts by mail. */
const RECEIPT = 'receipt';

const SAYS: Readonly<Record<TimelineRow['what'], (data: Data) => Omit<TimelineEntry, 'at'>>> = {
  delivery: (d) => ({
    kind: 'delivery',
    text: `${d['event_type']} ${d['event_id']} delivered${d['repeat'] ? ' again' : ''}${d['differs'] ? ', with other bytes' : ''}`,
  }),
  found: (d) => ({
    kind: 'found',
    text: `${d['event_type']} ${d['event_id']} found at the gateway; its webhook ${d['came'] ? 'had not come' : 'never came'}`,
  }),
  handed_over: (d) => ({ kind: 'handed_over', text: `${d['event_id']} handed over to the payment's workflow` }),
  event: (d) => ({ kind: 'decided', text: eventText(d) }),
  order: (d) => ({ kind: 'decided', text: `order ${d['object_id']} ${change(d)}` }),
  payment: (d) => ({ kind: 'decided', text: `payment ${change(d)}` }),
  dispute: (d) => ({ kind: 'decided', text: `dispute ${d['object_id']} ${change(d)}` }),
  capture: (d) => ({ kind: 'decided', text: `capture ${change(d)}` }),
  void: (d) => ({ kind: 'decided', text: `void ${change(d)}` }),
  refund: (d) => ({ kind: 'refund', text: `refund ${d['refund_id']}${ofMoney(d)} ${change(d)}` }),
  booking: (d) => ({ kind: 'consequence', text: `${d['kind']} ${d['line_id']} ${d['status']}${byRefund(d)}` }),
  loyalty: (d) => ({
    kind: 'consequence',
    text: `loyalty ${String(d['points']).startsWith('-') ? '' : '+'}${d['points']} points${byRefund(d)}`,
  }),
  gift_card: (d) => ({
    kind: 'consequence',
    text: `gift card ${d['line_id']} no. ${d['unit']}${ofMoney(d)} issued${standing(d, 'active')}`,
  }),
  package: (d) => ({
    kind: 'consequence',
    text: `package ${d['line_id']} no. ${d['unit']} issued${standing(d, 'active')}`,
  }),
  invoice: (d) => ({
    kind: 'consequence',
    text: `${d['kind'] === 'invoice' ? 'receipt' : 'credit note'} ${d['number']}${ofMoney(d)} written`,
  }),
  posting: (d) => ({ kind: 'ledger', text: `ledger ${d['key']}: ${d['lines']} (minor units, ${d['currency']})` }),
  told: (d) =>
    d['consumer'] === RECEIPT ? { kind: 'mail', text: mailText(d) } : { kind: 'delivered_out', text: toldText(d) },
  dead_letter: (d) => ({ kind: 'dead_letter', text: `${d['kind']}: ${d['last_error']}` }),
  dead_letter_closed: (d) => ({
    kind: 'decision',
    text:
      d['status'] === 'recovered'
        ? `${d['kind']} came right by itself`
        : [`${d['kind']}: ${d['action']}`, d['by'] && `by ${d['by']}`, d['note'] && `"${d['note']}"`]
            .filter(Boolean)
            .join(' '),
  }),
};

/**
 * What people read of a row: one line, and for a receipt that nobody is there to send a second one that says so.
 *
 * @param mailConfigured whether there is a mail server; its consumer's own lines tell what became of a mail
 */
export function timelineEntries({ at, what, data }: TimelineRow, mailConfigured: boolean): TimelineEntry[] {
  const entry = { at: at.toISOString(), ...SAYS[what](data) };
  if (what !== 'invoice' || data['kind'] !== 'invoice' || mailConfigured) return [entry];
  return [entry, { at: entry.at, kind: 'mail', text: 'receipt not sent: no SMTP_URL' }];
}

function mailText(d: Data): string {
  const about = `receipt for ${d['event_type']}`;
  const why = String(d['last_error'] ?? '');
  if (d['status'] === 'done') return `${about} sent${attempts(d, 1)}`;
  if (d['status'] === 'skipped') return why.startsWith('receipt not sent') ? why : `receipt not sent: ${why}`;
  return `${about} not sent${d['status'] === 'dead' ? '' : ' yet'}${attempts(d)}: ${why === '' ? 'it is being sent' : why}`;
}

function toldText(d: Data): string {
  const whom = d['target'] === '-' ? `to ${d['consumer']}` : `by ${d['consumer']} to endpoint ${d['target']}`;
  const about = `${d['event_type']} told ${whom}`;
  const why = d['last_error'] === null ? '' : `: ${d['last_error']}`;
  if (d['status'] === 'done') return `${about}, done${attempts(d)}`;
  if (d['status'] === 'skipped') return `${about}, skipped${why}`;
  return `${about}, ${d['status'] === 'dead' ? 'not taken, a person is asked' : 'not taken yet'}${attempts(d)}${why}`;
}

/** @param usual so many go without saying */
function attempts(d: Data, usual?: number): string {
  const n = Number(d['attempts']);
  return n === usual ? '' : ` after ${n} ${n === 1 ? 'attempt' : 'attempts'}`;
}

function eventText(d: Data): string {
  switch (d['state']) {
    case 'processed':
      return `${d['outcome']}: what ${d['event_id']} came to`;
    case 'ignored':
      return `${d['event_id']} ignored: ${d['outcome']}`;
    case 'held':
      return `${d['event_id']} held for a person: ${d['last_error']}`;
    default:
      return `${d['event_id']} looked into ${d['attempts']} times, still waiting: ${d['last_error']}`;
  }
}

function change(d: Data): string {
  const from = d['from'] === null ? '' : `${d['from']} → `;
  const detail = d['detail'] === null || d['detail'] === undefined ? '' : ` (${d['detail']})`;
  return `${from}${d['to']}${detail}, by ${d['cause']}`;
}

function ofMoney(d: Data): string {
  const amount = d['amount'];
  const currency = d['currency'];
  if (typeof amount !== 'string' || typeof currency !== 'string') return '';
  return ` of ${formatMoney({ amount: BigInt(amount), currency })}`;
}

/** What took it back: a refund, or a dispute, whose key says so. */
function byRefund(d: Data): string {
  const by = d['refund_id'];
  if (by === null || by === undefined) return '';
  return String(by).startsWith('dispute:') ? ` by ${by}` : ` by refund ${by}`;
}

function standing(d: Data, usual: string): string {
  return d['status'] === usual ? '' : `, now ${d['status']}${byRefund(d)}`;
}

import { formatMoney } from '../../domain/money.ts';
import type { AnnouncedOrder } from '../../domain/announced-event.ts';
import { escapeHtml } from '../../domain/escape-html.ts';

export type Invoice = AnnouncedOrder['invoices'][number];

interface ReceiptText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const LINE_KINDS: Readonly<Record<string, string>> = {
  booking: 'Booking',
  enrolment: 'Enrolment',
  gift_card: 'Gift card',
  package: 'Package',
  product: 'Product',
  shipping: 'Shipping',
  tax: 'Tax',
  discount: 'Discount',
};

/** What a document of the mail says. */
interface Section {
  readonly issued: string;
  readonly rows: readonly Row[];
  readonly total: Row;
}
type Row = readonly [what: string, amount: string];

/**
 * A receipt in words: an invoice with the order's lines, or a credit note with what went back.
 *
 * @param earlier credit notes over what went back before there was an invoice; they are sent along with it
 */
export function receiptMail(order: AnnouncedOrder, receipt: Invoice, earlier: readonly Invoice[] = []): ReceiptText {
  const documents = [receipt, ...earlier];
  const subject = `${documents.map(titleOf).join(', ')} for order ${order.id}`;
  const greeting = order.customer.name === null ? 'Hello,' : `Hello ${oneLine(order.customer.name)},`;
  const intro =
    receipt.kind === 'invoice'
      ? `thank you: your order ${order.id} is paid.`
      : `money for your order ${order.id} is on its way back to you.`;
  const sections = documents.map((document) => section(order, document));
  const text = sections.flatMap(({ issued, rows, total }) => [issued, '', ...table([...rows, total]), '']);
  return {
    subject,
    text: [greeting, '', intro, '', ...text].join('\n'),
    html: html({ subject, greeting, intro, sections }),
  };
}

function section(order: AnnouncedOrder, document: Invoice): Section {
  const money = (amount: bigint) => formatMoney({ amount, currency: order.currency });
  return {
    issued: `${titleOf(document)}, issued on ${document.issuedAt.toISOString().slice(0, 10)}`,
    rows:
      document.kind === 'invoice'
        ? order.lines.map((line): Row => [lineText(line), money(line.amount)])
        : [['Refund', money(document.amount)]],
    total: ['Total', money(document.amount)],
  };
}

function titleOf({ kind, number }: Invoice): string {
  return `${kind === 'invoice' ? 'Invoice' : 'Credit note'} ${number}`;
}

function lineText({ kind, quantity, reference }: AnnouncedOrder['lines'][number]): string {
  const what = LINE_KINDS[kind] ?? kind;
  return `${quantity > 1 ? `${quantity} × ` : ''}${what}${reference === null ? '' : ` (${oneLine(reference)})`}`;
}

/** Amounts under each other, whatever their lengths. */
function table(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([what]) => what.length));
  const amountWidth = Math.max(...rows.map(([, amount]) => amount.length));
  return rows.map(([what, amount]) => `${what.padEnd(width)}  ${amount.padStart(amountWidth)}`);
}

function html(mail: { subject: string; greeting: string; intro: string; sections: readonly Section[] }): string {
  const row = (cell: 'td' | 'th', [what, amount]: Row) =>
    `<tr><${cell} align="left">${escapeHtml(what)}</${cell}><${cell} align="right">${escapeHtml(amount)}</${cell}></tr>`;
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(mail.subject)}</title></head><body>`,
    `<p>${escapeHtml(mail.greeting)}</p><p>${escapeHtml(mail.intro)}</p>`,
    ...mail.sections.flatMap(({ issued, rows, total }) => [
      `<p>${escapeHtml(issued)}</p>`,
      `<table cellpadding="4">${rows.map((each) => row('td', each)).join('')}${row('th', total)}</table>`,
    ]),
    '</body></html>',
  ].join('\n');
}

/** Somebody's text cannot add lines of its own to the mail. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

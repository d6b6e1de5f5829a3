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

/** A receipt in words: an invoice with the order's lines, or a credit note with what went back. */
export function receiptMail(order: AnnouncedOrder, invoice: Invoice): ReceiptText {
  const money = (amount: bigint) => formatMoney({ amount, currency: order.currency });
  const title = `${invoice.kind === 'invoice' ? 'Invoice' : 'Credit note'} ${invoice.number}`;
  const subject = `${title} for order ${order.id}`;
  const greeting = order.customer.name === null ? 'Hello,' : `Hello ${oneLine(order.customer.name)},`;
  const intro =
    invoice.kind === 'invoice'
      ? `thank you: your order ${order.id} is paid.`
      : `money for your order ${order.id} is on its way back to you.`;
  const rows: [what: string, amount: string][] =
    invoice.kind === 'invoice'
      ? order.lines.map((line) => [lineText(line), money(line.amount)])
      : [['Refund', money(invoice.amount)]];
  const total: [string, string] = ['Total', money(invoice.amount)];
  const issued = `${title}, issued on ${invoice.issuedAt.toISOString().slice(0, 10)}`;
  return {
    subject,
    text: [greeting, '', intro, '', issued, '', ...table([...rows, total]), ''].join('\n'),
    html: html({ subject, greeting, intro, issued, rows, total }),
  };
}

function lineText({ kind, quantity, reference }: AnnouncedOrder['lines'][number]): string {
  const what = LINE_KINDS[kind] ?? kind;
  return `${quantity > 1 ? `${quantity} × ` : ''}${what}${reference === null ? '' : ` (${oneLine(reference)})`}`;
}

/** Amounts under each other, whatever their lengths. */
function table(rows: readonly [string, string][]): string[] {
  const width = Math.max(...rows.map(([what]) => what.length));
  const amountWidth = Math.max(...rows.map(([, amount]) => amount.length));
  return rows.map(([what, amount]) => `${what.padEnd(width)}  ${amount.padStart(amountWidth)}`);
}

function html(mail: {
  subject: string;
  greeting: string;
  intro: string;
  issued: string;
  rows: readonly [string, string][];
  total: readonly [string, string];
}): string {
  const row = (cell: 'td' | 'th', [what, amount]: readonly [string, string]) =>
    `<tr><${cell} align="left">${escapeHtml(what)}</${cell}><${cell} align="right">${escapeHtml(amount)}</${cell}></tr>`;
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(mail.subject)}</title></head><body>`,
    `<p>${escapeHtml(mail.greeting)}</p><p>${escapeHtml(mail.intro)}</p><p>${escapeHtml(mail.issued)}</p>`,
    `<table cellpadding="4">${mail.rows.map((each) => row('td', each)).join('')}${row('th', mail.total)}</table>`,
    '</body></html>',
  ].join('\n');
}

/** Somebody's text cannot add lines of its own to the mail. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

import type { AnnouncedEvent, AnnouncedOrder } from '../../domain/announced-event.ts';
import type { Consumer } from '../consumer.ts';
import type { Mailer } from '../mail/create-mailer.ts';
import { type Invoice, receiptMail } from '../mail/receipt-mail.ts';
import { RETRY_FOR_A_DAY } from '../retry-for-a-day.ts';

/** A mail server takes a mail within a second or two; a worker that died with one in hand holds it up no longer than this. */
const ATTEMPT_TIMEOUT_MS = 20_000;

/**
 * Receipts by e-mail: the invoice when an order is paid, the credit note when a refund that has one succeeded. A refund of a part
 * that succeeded before its order was paid has its credit note only then, and it goes along with the invoice. Each has the Message-ID
 * `<invoice-{number}@…>`, so that a second copy of a mail, which a crash can cause, is known as one.
 */
export function createReceiptConsumer({ mailer }: { readonly mailer: Mailer }): Consumer {
  return {
    name: 'receipt',
    types: ['order.paid', 'refund.succeeded'],
    retry: { ...RETRY_FOR_A_DAY, timeoutMs: ATTEMPT_TIMEOUT_MS },
    async deliver({ event, order, signal }) {
      const invoice = order === null ? undefined : invoiceOf(event, order);
      if (order === null || invoice === undefined) {
        // An extra payment that went back was never a sale; nor was a surplus, or a top-up.
        return { status: 'skipped', reason: 'receipt not sent: the event has no invoice or credit note' };
      }
      const address = order.customer.email;
      if (address === null) {
        return { status: 'skipped', reason: 'receipt not sent: the customer has no e-mail address' };
      }
      const earlier = invoice.kind === 'invoice' ? order.invoices.filter(({ withInvoice }) => withInvoice) : [];
      const { subject, text, html } = receiptMail(order, invoice, earlier);
      const name = `invoice-${invoice.number}`;
      await mailer.send({ to: [address], subject, text, html, name, date: invoice.issuedAt }, signal);
      return { status: 'done' };
    },
  };
}

function invoiceOf(event: AnnouncedEvent, order: AnnouncedOrder): Invoice | undefined {
  if (event.type === 'order.paid') return order.invoices.find(({ kind }) => kind === 'invoice');
  const refundId = event.payload['refund_id'];
  return order.invoices.find((one) => one.kind === 'credit_note' && one.refundId === refundId && !one.withInvoice);
}

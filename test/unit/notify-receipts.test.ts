import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { AnnouncedOrder } from '../../src/domain/announced-event.ts';
import type { Delivery } from '../../src/notify/consumer.ts';
import { createReceiptConsumer } from '../../src/notify/consumers/receipt.ts';
import { DeliveryError } from '../../src/notify/delivery-error.ts';
import { createMailer } from '../../src/notify/mail/create-mailer.ts';
import { receiptMail } from '../../src/notify/mail/receipt-mail.ts';
import { smtpSettings } from '../../src/notify/mail/smtp-settings.ts';
import { startMailServer, type MailScript, type MailServer } from '../support/mail-server.ts';

const FROM = 'Shop <receipts@shop.example>';
const ADDRESS = 'ada.lovelace@customers.example';
const ISSUED = new Date('2026-11-30T09:42:00Z');

const ORDER: AnnouncedOrder = {
  id: 'ord_1',
  currency: 'EUR',
  amountDue: 12_000n,
  amountPaid: 12_000n,
  customer: { id: 'cus_1', email: ADDRESS, name: 'Ada <Lovelace>' },
  lines: [
    { id: 'l1', kind: 'booking', amount: 10_000n, quantity: 1, reference: 'Room "7" & view' },
    { id: 'l2', kind: 'gift_card', amount: 4_000n, quantity: 2, reference: null },
    { id: 'l3', kind: 'discount', amount: -2_000n, quantity: 1, reference: null },
  ],
  invoices: [
    { number: 1001n, kind: 'invoice', amount: 12_000n, refundId: null, issuedAt: ISSUED, withInvoice: false },
    { number: 1007n, kind: 'credit_note', amount: 2_500n, refundId: 'ref_1', issuedAt: ISSUED, withInvoice: false },
  ],
};

let server: MailServer | undefined;
afterEach(() => server?.close());

function delivery(order: AnnouncedOrder | null, type = 'order.paid', payload: Record<string, unknown> = {}): Delivery {
  return {
    event: { id: 'outbox:7', type, at: ISSUED, aggregateVersion: 3n, payload },
    target: '-',
    order,
    signal: AbortSignal.timeout(10_000),
  };
}

async function receipts(script: MailScript = {}, smtpUrl?: string) {
  server = await startMailServer(script);
  const limits = { connectMs: 400, silenceMs: 400 };
  return createReceiptConsumer({ mailer: createMailer({ smtpUrl: smtpUrl ?? server.url, from: FROM }, limits) });
}

const failureOf = async (work: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DeliveryError);
  return error as DeliveryError;
};

describe('a receipt', () => {
  it('is one mail to the customer in HTML and text, with the lines, the total and the number of the invoice', async () => {
    const consumer = await receipts();
    expect(await consumer.deliver(delivery(ORDER))).toEqual({ status: 'done' });
    expect(server?.mails).toHaveLength(1);
    const [mail] = server?.mails ?? [];
    expect(mail?.to).toEqual([ADDRESS]);
    expect(mail?.from).toBe('receipts@shop.example');
    expect(mail?.headers.get('subject')).toBe('Invoice 1001 for order ord_1');
    expect(mail?.headers.get('message-id')).toBe('<invoice-1001@shop.example>');
    expect(new Date(mail?.headers.get('date') ?? '')).toEqual(ISSUED);
    const text = mail?.parts.get('text/plain') ?? '';
    for (const part of ['Invoice 1001', '2026-11-30', '100.00 EUR', '2 × Gift card', '-20.00 EUR'])
      expect(text).toContain(part);
    expect(text).toMatch(/Total +120\.00 EUR/);
    const html = mail?.parts.get('text/html') ?? '';
    expect(html).toContain('Room &quot;7&quot; &amp; view');
    expect(html).toContain('Ada &lt;Lovelace&gt;');
    expect(html).toContain('<th align="right">120.00 EUR</th>');
    expect(html).not.toContain('<Lovelace>');
  });

  it('has the same Message-ID and date in every try', async () => {
    const consumer = await receipts();
    await consumer.deliver(delivery(ORDER));
    await consumer.deliver(delivery(ORDER));
    const [first, second] = server?.mails ?? [];
    expect(second?.headers.get('message-id')).toBe(first?.headers.get('message-id'));
    expect(second?.headers.get('date')).toBe(first?.headers.get('date'));
  });

  it('of a refund is its own credit note, and none where the refund has none', async () => {
    const consumer = await receipts();
    await consumer.deliver(delivery(ORDER, 'refund.succeeded', { refund_id: 'ref_1' }));
    expect(server?.mails.map((mail) => mail.headers.get('message-id'))).toEqual(['<invoice-1007@shop.example>']);
    expect(server?.mails[0]?.headers.get('subject')).toBe('Credit note 1007 for order ord_1');
    expect(await consumer.deliver(delivery(ORDER, 'refund.succeeded', { refund_id: 'ref_extra' }))).toEqual({
      status: 'skipped',
      reason: 'receipt not sent: the event has no invoice or credit note',
    });
    expect(await consumer.deliver(delivery(null, 'refund.succeeded', { refund_id: 'ref_1' }))).toMatchObject({
      status: 'skipped',
    });
    expect(server?.mails).toHaveLength(1);
  });

  it('of an order of which a part went back before it was paid has that credit note with it, once', async () => {
    const consumer = await receipts();
    const before: AnnouncedOrder['invoices'][number] = {
      ...{ number: 1002n, kind: 'credit_note', amount: 4_000n, refundId: 'ref_0', issuedAt: ISSUED, withInvoice: true },
    };
    const order = { ...ORDER, invoices: [...ORDER.invoices, before] };
    await consumer.deliver(delivery(order));
    const [mail] = server?.mails ?? [];
    expect(mail?.headers.get('subject')).toBe('Invoice 1001, Credit note 1002 for order ord_1');
    expect(mail?.headers.get('message-id')).toBe('<invoice-1001@shop.example>');
    expect(mail?.parts.get('text/plain')).toMatch(
      /Invoice 1001[^]*Total +120\.00 EUR[^]*Credit note 1002[^]*Refund +40\.00 EUR/,
    );
    expect(mail?.parts.get('text/html')).toContain('Credit note 1002');
    // Its refund was announced when there was no credit note yet, and may be told of only now.
    const told = await consumer.deliver(delivery(order, 'refund.succeeded', { refund_id: 'ref_0' }));
    expect(told).toMatchObject({ status: 'skipped' });
    expect(server?.mails).toHaveLength(1);
  });

  it('is not sent where the customer has no address, and says so', async () => {
    const consumer = await receipts();
    const order = { ...ORDER, customer: { ...ORDER.customer, email: null } };
    expect(await consumer.deliver(delivery(order))).toEqual({
      status: 'skipped',
      reason: 'receipt not sent: the customer has no e-mail address',
    });
    expect(server?.mails).toEqual([]);
  });

  it("has amounts with their currency's own decimals", () => {
    const [invoice] = ORDER.invoices;
    if (invoice === undefined) throw new Error('no invoice');
    const total = (currency: string) =>
      / {2,}(\S+ \w+)\n$/.exec(receiptMail({ ...ORDER, currency }, invoice).text)?.[1];
    expect(total('JPY')).toBe('12000 JPY');
    expect(total('KWD')).toBe('12.000 KWD');
  });

  it("takes nobody's text for a further line or recipient of its own", async () => {
    const consumer = await receipts();
    const customer = {
      id: 'c',
      email: 'a@shop.example,b@shop.example',
      name: 'Eve\r\nBcc: all@shop.example\n\nPay again',
    };
    await consumer.deliver(delivery({ ...ORDER, customer })).catch(() => undefined);
    for (const mail of server?.mails ?? []) expect(mail.to).toHaveLength(1);
    await consumer.deliver(delivery({ ...ORDER, customer: { ...customer, email: ADDRESS } }));
    const mail = server?.mails.at(-1);
    expect(mail?.to).toEqual([ADDRESS]);
    expect(mail?.headers.has('bcc')).toBe(false);
    expect(mail?.parts.get('text/plain')).toContain('Hello Eve Bcc: all@shop.example Pay again,');
  });
});

describe('a mail server that', () => {
  it.each([
    ['does not know the recipient', { onRecipient: () => 550 }, { final: true, says: 'recipient for good: 550' }],
    ['is busy at the recipient', { onRecipient: () => 450 }, { final: false, says: 'recipient for now: 450' }],
    ['refuses the mail for good', { onMail: () => 554 }, { final: true, says: 'mail for good: 554' }],
    ['cannot take the mail now', { onMail: () => 451 }, { final: false, says: 'mail for now: 451' }],
    [
      'refuses the sender, which is a setting',
      { options: { onMailFrom: (_a, _s, done) => done(Object.assign(new Error('no'), { responseCode: 553 })) } },
      { final: false, says: 'for now: 553' },
    ],
  ] as [string, MailScript, { final: boolean; says: string }][])('%s', async (_name, script, { final, says }) => {
    const consumer = await receipts(script);
    const error = await failureOf(consumer.deliver(delivery(ORDER)));
    expect(error.final).toBe(final);
    expect(error.message).toContain(says);
    expect(everythingIn(error)).not.toContain(ADDRESS);
    expect(everythingIn(error)).not.toContain('mailbox');
  });

  it('is not there is tried again', async () => {
    const consumer = await receipts({}, 'smtp://127.0.0.1:1');
    const error = await failureOf(consumer.deliver(delivery(ORDER)));
    expect(error.final).toBe(false);
    expect(error.message).toContain('could not be reached');
  });

  it('takes the connection and never says a word is given up in time, and tried again', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const consumer = await receipts({}, `smtp://127.0.0.1:${port}`);
    const error = await failureOf(consumer.deliver(delivery(ORDER)));
    expect(error.final).toBe(false);
    silent.close();
  });

  it('stops in the middle is given up in time; so is one that outlasts the attempt', async () => {
    const consumer = await receipts({ onMail: () => 'silence' });
    expect((await failureOf(consumer.deliver(delivery(ORDER)))).final).toBe(false);
    const patient = createReceiptConsumer({ mailer: createMailer({ smtpUrl: server?.url ?? '', from: FROM }) });
    const attempt = { ...delivery(ORDER), signal: AbortSignal.timeout(100) };
    expect((await failureOf(patient.deliver(attempt))).message).toBe('The mail server did not finish in time.');
  });
});

it('an address that no mail can go to is final', async () => {
  const consumer = await receipts();
  const customer = { ...ORDER.customer, email: 'a b@<x' };
  const error = await failureOf(consumer.deliver(delivery({ ...ORDER, customer })));
  expect(error.final).toBe(true);
  expect(everythingIn(error)).not.toContain('a b@');
});

it.each([
  ['smtp://mail.example', { host: 'mail.example', port: 587, secure: false, requireTLS: false }],
  ['smtps://mail.example', { host: 'mail.example', port: 465, secure: true, requireTLS: false }],
  ['smtp://u:p%40ss@mail.example:25', { port: 25, requireTLS: true, auth: { user: 'u', pass: 'p@ss' } }],
  ['smtp://u:p@127.0.0.1:25', { requireTLS: false }],
  ['smtp://u:p@mail.internal:25?requireTLS=false', { requireTLS: false }],
  ['smtp://[::1]:2525', { host: '::1', port: 2525 }],
])('%s is read as it says: a password goes over a network with TLS alone', (url, settings) => {
  expect(smtpSettings(url)).toMatchObject(settings);
});

/** The error with all its causes, as a workflow's history would keep it. */
function everythingIn(error: Error): string {
  return `${error.message} ${error.stack ?? ''} ${error.cause instanceof Error ? everythingIn(error.cause) : String(error.cause)}`;
}

import { createTransport } from 'nodemailer';
import parseAddresses from 'nodemailer/lib/addressparser';
import { DeliveryError } from '../delivery-error.ts';
import { mailFailure } from './mail-failure.ts';
import { smtpSettings } from './smtp-settings.ts';

export interface Mail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** The part before the `@` of its Message-ID: a name made of the business, the same in every try. */
  readonly name: string;
  /** When what it tells happened. */
  readonly date: Date;
}

export interface Mailer {
  /**
   * Hands one mail to the mail server, once; it is sent when the server has taken it.
   *
   * @throws DeliveryError without any address in its text: final where the server refuses the recipient or the mail for good
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
}

/** For tests: limits that a test can wait for. Milliseconds. */
export interface MailerLimits {
  readonly connectMs: number;
  readonly silenceMs: number;
}

/** A mail server that works answers each step in well under a second; the whole attempt has its own limit, the signal. */
const LIMITS: MailerLimits = { connectMs: 5_000, silenceMs: 10_000 };

/**
 * Mail over SMTP. Each mail has a connection of its own: a pool would try again by itself on one that broke, and keep mails
 * in memory that a restart forgets.
 */
export function createMailer(
  settings: { readonly smtpUrl: string; readonly from: string },
  limits: MailerLimits = LIMITS,
): Mailer {
  const transport = createTransport({
    ...smtpSettings(settings.smtpUrl),
    connectionTimeout: limits.connectMs,
    dnsTimeout: limits.connectMs,
    greetingTimeout: limits.connectMs,
    socketTimeout: limits.silenceMs,
    // Nothing in a mail of ours is a file or an address to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = domainOf(settings.from);
  return {
    async send(mail, signal) {
      const handedOver = transport.sendMail({
        from: settings.from,
        // Each by itself, so that no address can be read as several.
        to: mail.to.map((address) => ({ name: '', address })),
        subject: mail.subject,
        text: mail.text,
        ...(mail.html === undefined ? {} : { html: mail.html }),
        messageId: `<${mail.name}@${domain}>`,
        date: mail.date,
        // So that no out-of-office answer comes back.
        headers: { 'auto-submitted': 'auto-generated' },
      });
      await untilAborted(handedOver, signal).catch((error: unknown) => {
        throw error instanceof DeliveryError ? error : mailFailure(error);
      });
    },
  };
}

function domainOf(from: string): string {
  const [sender] = parseAddresses(from, { flatten: true });
  return sender?.address?.split('@').at(-1) || 'localhost';
}

/** The connection itself ends by its own limits: what was not waited for may still be sent, under the same Message-ID. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(new DeliveryError('The mail server did not finish in time.'));
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

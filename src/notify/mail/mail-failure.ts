import { DeliveryError } from '../delivery-error.ts';

/** What is read of nodemailer's errors; their messages quote the server, and the server quotes the recipient. */
interface MailError {
  readonly code?: unknown;
  /** The server's, three digits. */
  readonly responseCode?: unknown;
  /** The step that failed: `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, `DATA`, `API`. */
  readonly command?: unknown;
}

/**
 * An error of the mail server's, in our own words and its code. Final is what it says for good about this recipient or this mail; a
 * refused login or sender is a setting to be put right, after which trying again helps. The cause is not kept: it repeats addresses.
 */
export function mailFailure(error: unknown): DeliveryError {
  const { code, responseCode, command } = error as MailError;
  const step = typeof command === 'string' ? command : '';
  if (typeof responseCode === 'number') {
    const aboutMail = step === 'RCPT TO' || step === 'DATA';
    const what = step === 'RCPT TO' ? 'the recipient' : step === 'DATA' ? 'the mail' : `the step ${step}`;
    const final = responseCode >= 500 && aboutMail;
    return new DeliveryError(`The mail server refused ${what}${final ? ' for good' : ' for now'}: ${responseCode}.`, {
      final,
    });
  }
  // No server was asked: there is no address in it that a mail could go to.
  if (code === 'EENVELOPE') return new DeliveryError('The address is not one that mail can go to.', { final: true });
  const name = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'no reason given';
  return new DeliveryError(`The mail server could not be reached, or broke off (${name}).`);
}

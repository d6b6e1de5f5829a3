import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** By lower-case name, unfolded. */
  readonly headers: ReadonlyMap<string, string>;
  /** The parts by their type, decoded: `text/plain`, `text/html`. */
  readonly parts: ReadonlyMap<string, string>;
}

export interface MailServer {
  readonly url: string;
  readonly mails: ReceivedMail[];
  close(): Promise<void>;
}

/** What the server answers at a step in place of taking it; null takes it, `silence` never says a word. */
export interface MailScript {
  readonly onRecipient?: (address: string) => number | null;
  readonly onMail?: (mail: ReceivedMail) => number | 'silence' | null;
  /** A mail is kept; its sender hears of it when this has ended. */
  readonly beforeAnswer?: (mail: ReceivedMail) => Promise<void>;
  readonly options?: SMTPServerOptions;
  readonly port?: number;
}

/** A real mail server on 127.0.0.1 that keeps what it takes. Its refusals repeat the recipient, as real ones do. */
export async function startMailServer(script: MailScript = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    // A client that is killed leaves its connection open.
    closeTimeout: 500,
    ...script.options,
    onRcptTo({ address }, _session, done) {
      done(refusal(script.onRecipient?.(address) ?? null, `no mailbox for ${address}`));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...parse(Buffer.concat(chunks).toString('latin1')),
        };
        const answer = script.onMail?.(mail) ?? null;
        if (answer === 'silence') return;
        const refused = refusal(answer, `not for ${mail.to.join(' ')}`);
        if (refused !== null) return done(refused);
        mails.push(mail);
        (script.beforeAnswer?.(mail) ?? Promise.resolve()).then(() => done(null), done);
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(script.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `smtp://127.0.0.1:${String((server.server.address() as AddressInfo).port)}`,
    mails,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

function refusal(code: number | null, message: string): Error | null {
  return code === null ? null : Object.assign(new Error(message), { responseCode: code });
}

/** As much of MIME as our own mails use. */
function parse(source: string): Pick<ReceivedMail, 'headers' | 'parts'> {
  const { headers, body } = split(source);
  const boundary = /boundary="?([^";]+)"?/.exec(headers.get('content-type') ?? '')?.[1];
  const entities =
    boundary === undefined
      ? [{ headers, body }]
      : body
          .split(`--${boundary}`)
          .slice(1, -1)
          .map((part) => split(part.replace(/^\r\n/, '')));
  const parts = new Map(
    entities.map((entity) => [
      (entity.headers.get('content-type') ?? '').split(';')[0] ?? '',
      decode(entity.body, entity.headers.get('content-transfer-encoding') ?? '7bit'),
    ]),
  );
  return { headers, parts };
}

function split(source: string): { headers: Map<string, string>; body: string } {
  const end = source.indexOf('\r\n\r\n');
  const lines = source
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { headers, body: source.slice(end + 4) };
}

function decode(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

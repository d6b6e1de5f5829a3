export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly secure: boolean;
  /** TLS before anything else, or no mail. */
  readonly requireTLS: boolean;
  readonly auth?: { readonly user: string; readonly pass: string };
}

/** This machine, where nobody listens on the way. */
const LOCAL = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * What the URL says. `smtps:` is TLS from the first byte; `smtp:` is TLS by STARTTLS where the server offers it, and has to be
 * where a password is sent over a network, unless `?requireTLS=false` says that this network may see it.
 */
export function smtpSettings(smtpUrl: string): SmtpSettings {
  const url = new URL(smtpUrl);
  const secure = url.protocol === 'smtps:';
  const user = decodeURIComponent(url.username);
  const asked = url.searchParams.get('requireTLS');
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: asked === null ? user !== '' && !LOCAL.test(url.hostname) : asked === 'true',
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
  };
}

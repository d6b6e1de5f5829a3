/*
 * Two nets, since either alone has holes: names of fields whatever they hold, and shapes of secrets wherever they stand.
 */
const CENSORED = '[redacted]';

const SECRET_NAMES = new Set(
  [
    ...['authorization', 'cookie', 'password', 'token', 'access_token', 'secret', 'client_secret', 'signing_secret'],
    ...['webhook_secret', 'webhook_secrets', 'api_key', 'key_secret', 'x-api-key', 'webhook-signature'],
    ...['stripe-signature', 'x-razorpay-signature', 'database_url', 'smtp_url'],
    ...['email', 'phone', 'contact', 'customer_name', 'billing_details', 'shipping', 'vpa'],
    ...['card', 'card_number', 'pan', 'cvc', 'cvv', 'exp_month', 'exp_year', 'iban', 'account_number'],
  ].map(plainName),
);

/** Payloads and logged objects are shallow; beyond this only a mistake goes, perhaps a cycle. */
const DEEPEST = 8;

const SECRET_SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\bwhsec_[A-Za-z0-9+/=_-]+/g, CENSORED],
  [/\b(?:sk|rk|rzp)_(?:test|live)_[A-Za-z0-9:_-]+/g, CENSORED],
  [/\b(Bearer|Basic) [A-Za-z0-9+/=._~:-]+/gi, `$1 ${CENSORED}`],
  // The user and password of a URL, as in a driver's error message.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${CENSORED}@`],
  [/[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/g, CENSORED],
];

/** A copy in which secrets, personal data and card data are censored at every depth. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '[deeper]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  // Bytes are bodies as received: of no use in a log, and full of what must not stand there.
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  // What has a text of its own, such as a date or a URL, and errors, whose fields are hidden.
  const { toJSON } = value as { toJSON?: (this: unknown) => unknown };
  if (typeof toJSON === 'function') return redact(toJSON.call(value), depth + 1);
  if (value instanceof Error) {
    return redact({ type: value.name, message: value.message, stack: value.stack }, depth + 1);
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      SECRET_NAMES.has(plainName(name)) && item !== null && item !== undefined ? CENSORED : redact(item, depth + 1),
    ]),
  );
}

/** Censors what looks like a secret or an e-mail address inside a text. */
export function redactText(text: string): string {
  return SECRET_SHAPES.reduce((censored, [shape, replacement]) => censored.replaceAll(shape, replacement), text);
}

/** `apiKey`, `api_key` and `API-Key` are one name. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

import { isIP } from 'node:net';
import { z } from 'zod';

/*
 * The kinds of values that settings have. Each message completes "<setting>: …" and says what to do.
 */

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `whsec_` and base64 with its padding, as Standard Webhooks asks. */
export const STANDARD_SECRET = /^whsec_(?=[^=])(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Text that may not be empty. A number is refused: YAML would have cut its zeros or rounded it already. */
export function text(what: string) {
  return z
    .string({
      error: (issue) =>
        issue.input === undefined ? `is missing; give ${what}` : `must be text; put ${what} in quotes`,
    })
    .min(1, {
      error: `is empty; give ${what}`,
    });
}

export function oneOf<const T extends readonly [string, ...string[]]>(names: T) {
  return z.enum(names, { error: `must be one of ${names.join(', ')}` });
}

/** A whole number; from the environment it comes as text. */
export function wholeNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z
    .union([z.number(), z.string().regex(/^\d+$/).transform(Number)], { error })
    .refine((value) => Number.isInteger(value) && value >= least && value <= most, { error });
}

/** A number of at least zero, fractions allowed. */
export function amount() {
  const error = 'must be a number of 0 or more';
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d+(\.\d+)?$/)
          .transform(Number),
      ],
      { error },
    )
    .refine((value) => value >= 0, { error });
}

/** `24h`, `5m`, `300s`, `250ms`, `7d`; answers milliseconds, at least 1. */
export function duration(mostMs = 3650 * UNIT_MS.d) {
  const error = `must be a duration such as 24h, 5m, 300s or 250ms, at most ${mostMs / 1000}s`;
  return z.string({ error }).transform((value, context) => {
    const [, digits, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(value) ?? [];
    const milliseconds = Number(digits) * (UNIT_MS[unit as keyof typeof UNIT_MS] ?? Number.NaN);
    if (milliseconds > 0 && milliseconds <= mostMs) return milliseconds;
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  });
}

/** An ISO 8601 moment with its zone, as `2026-11-01T00:00:00Z`; answers milliseconds since the epoch. */
export function moment() {
  const error = 'must be a moment with its zone, such as 2026-11-01T00:00:00Z';
  return z.iso.datetime({ offset: true, error }).transform((value) => Date.parse(value));
}

/** A URL of one of the given schemes. Its value is never repeated in a message: it may hold a password. */
export function url(schemes: readonly string[], example: string) {
  const error = `must be a URL such as ${example}`;
  return z
    .string({
      error: (issue) => (issue.input === undefined ? `is missing; set it to a URL such as ${example}` : error),
    })
    .refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol.replace(/:$/, '')), { error });
}

/** A network in CIDR form. */
export function network() {
  const error = 'must be a network such as 127.0.0.0/8 or ::1/128';
  return z.string({ error }).refine(
    (value) => {
      const [address = '', bits = '', ...rest] = value.split('/');
      const widest = { 4: 32, 6: 128 }[isIP(address)];
      return widest !== undefined && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= widest;
    },
    { error },
  );
}

/** Whoever asks for more than a day's patience was misread, or is gone; a person must not wait a year to see it. */
const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/** Retry-After as milliseconds from `now`: seconds or an HTTP date; null where it is neither. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  // `Date.parse` takes many a number for a year; every HTTP date names its weekday first.
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) - now : Number.NaN;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : date;
  if (Number.isNaN(ms)) return null;
  return Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
}

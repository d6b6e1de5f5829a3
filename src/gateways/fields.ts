import { MAX_JSON_AMOUNT } from '../domain/money.ts';

/**
 * The fields that the events and objects of all gateways share. Each reader takes what `parseExactJson` gave, answers null
 * where the field is absent, and undefined where it is there and cannot be understood: the two must never be mixed up.
 */
type Read<T> = T | null | undefined;

const ID = /^[\x21-\x7e]{1,200}$/;
/** A reference of ours holds an id with its ':' and '%' encoded, so it can be longer than an id is. */
const REFERENCE = /^[\x21-\x7e]{1,1000}$/;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}[\d:.,]*(Z|[+-]\d{2}:?\d{2})?$/i;
/** The end of the year 9999: beyond it a "time" is a mistake, and PostgreSQL and ISO 8601 part ways. */
const LAST_TIME_MS = 253_402_300_799_999;

/** 1–200 visible ASCII characters; a number counts as its digits. */
export function readId(value: unknown): Read<string> {
  if (absent(value)) return null;
  const text = typeof value === 'number' ? value.toString() : value;
  return typeof text === 'string' && ID.test(text) ? text : undefined;
}

/** Minor units, exactly: a non-negative integer up to 2^53 − 1, or the same in decimal digits. */
export function readAmount(value: unknown): Read<bigint> {
  if (absent(value)) return null;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,16}$/.test(text)) return undefined;
  const amount = BigInt(text);
  return amount <= MAX_JSON_AMOUNT ? amount : undefined;
}

/** ISO 4217, upper case. */
export function readCurrency(value: unknown): Read<string> {
  if (absent(value)) return null;
  return typeof value === 'string' && /^[A-Za-z]{3}$/.test(value) ? value.toUpperCase() : undefined;
}

/** A reference of ours; anybody else's, which may hold any characters, is none. */
export function readReference(value: unknown): string | null {
  return typeof value === 'string' && REFERENCE.test(value) ? value : null;
}

/** Milliseconds since the epoch, from an ISO 8601 string or seconds. */
export function readTime(value: unknown): Read<number> {
  if (absent(value)) return null;
  const iso = typeof value === 'string' ? ISO_TIME.exec(value) : null;
  // Without a zone it is UTC: the machine's own zone must not decide when an event happened.
  const ms = iso ? Date.parse(iso[1] === undefined ? `${iso[0]}Z` : iso[0]) : readSeconds(value) * 1000;
  return ms >= 0 && ms <= LAST_TIME_MS ? Math.floor(ms) : undefined;
}

function readSeconds(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,12}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
}

/** Whether something stands in the field; an empty text is nothing. */
export function isPresent(value: unknown): boolean {
  return !absent(value) && value !== '';
}

function absent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

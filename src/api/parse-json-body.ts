import { isStorableText, jsonDepth } from '../domain/cleaned-text.ts';
import { pathText } from '../domain/path-text.ts';
import { Problem, type RequestMistake } from '../domain/problem.ts';

export interface JsonBody {
  readonly value: unknown;
  /** Texts that cannot be kept and numbers that are no whole ones, wherever they stand. */
  readonly mistakes: readonly RequestMistake[];
}

/** Our requests are three deep; this leaves room and keeps recursion harmless. */
const DEEPEST = 64;

// A text, which is stepped over, or a number.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const WHOLE = /^-?(?:0|[1-9]\d*)$/;

/** Marks a number that JSON.parse would round. No text may hold NUL, so that no client can write this. */
const MARK = '\0number:';

/**
 * Reads a JSON body without rounding: JSON.parse makes 9007199254740992 of 9007199254740993, and 100 of
 * 100.00000000000000001. No field of ours holds a fraction, so every number that is not a whole one within 2^53−1 is a
 * mistake, judged by how it is written.
 *
 * @throws Problem `malformed_request` where it is no JSON
 */
export function parseJsonBody(body: Buffer): JsonBody {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    JSON.parse(text);
    value = JSON.parse(text.replace(TOKENS, marked));
  } catch {
    const detail = body.length === 0 ? 'The request needs a JSON body.' : 'The body is not JSON in UTF-8.';
    throw new Problem('malformed_request', detail);
  }
  if (jsonDepth(text) > DEEPEST) throw new Problem('malformed_request', 'The body is nested too deeply.');
  return { value, mistakes: mistakesIn(value, []) };
}

function marked(token: string): string {
  if (token.startsWith('"') || (WHOLE.test(token) && Number.isSafeInteger(Number(token)))) return token;
  return JSON.stringify(`${MARK}${token}`);
}

function mistakesIn(value: unknown, path: readonly PropertyKey[]): RequestMistake[] {
  if (typeof value === 'string') return textMistakes(value, path);
  if (typeof value !== 'object' || value === null) return [];
  const members: [PropertyKey, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return members.flatMap(([name, member]) => {
    const at = [...path, name];
    const inName = typeof name === 'string' && !isStorableText(name) ? [unstorable(path)] : [];
    return [...inName, ...mistakesIn(member, at)];
  });
}

function textMistakes(text: string, path: readonly PropertyKey[]): RequestMistake[] {
  if (text.startsWith(MARK)) {
    return [{ path: pathText(path), message: 'must be a whole number within ±9007199254740991, written as digits' }];
  }
  return isStorableText(text) ? [] : [unstorable(path)];
}

function unstorable(path: readonly PropertyKey[]): RequestMistake {
  return { path: pathText(path), message: 'must not hold NUL or half a surrogate pair' };
}

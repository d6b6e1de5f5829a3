/** Far deeper than any event or answer of a gateway; far from where parsers and PostgreSQL run out of stack. */
const DEEPEST_NESTING = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const OPENING: readonly number[] = [0x5b, 0x7b];
const CLOSING: readonly number[] = [0x5d, 0x7d];

/**
 * `JSON.parse` that rounds nothing: a number that is not an integer within ±(2^53 − 1) comes back as its own text, so
 * that `9007199254740993` is the string '9007199254740993' and `49.90` is '49.90'.
 *
 * Throws `SyntaxError` for what is not JSON and `RangeError` for what is nested deeper than anything a gateway sends.
 */
export function parseExactJson(text: string, deepest = DEEPEST_NESTING): unknown {
  const quoted = quoteInexactNumbers(text, deepest);
  // Quoting could make JSON of what is none (`{1.5: 0}`), so the text as it came has to pass first.
  if (quoted !== text) JSON.parse(text);
  return JSON.parse(quoted);
}

function quoteInexactNumbers(text: string, deepest: number): string {
  const parts: string[] = [];
  let copied = 0;
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      const literal = text.slice(at, end);
      if (!isExact(literal)) {
        parts.push(text.slice(copied, at), `"${literal}"`);
        copied = end;
      }
      at = end;
    } else {
      if (OPENING.includes(code) && ++depth > deepest) throw new RangeError('nested too deeply');
      if (CLOSING.includes(code)) depth--;
      at++;
    }
  }
  return parts.join('') + text.slice(copied);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && isNumberPart(text.charCodeAt(at))) at++;
  return at;
}

/** By length first: a literal of a million digits must not cost a conversion. */
function isExact(literal: string): boolean {
  return literal.length <= 17 && /^-?\d+$/.test(literal) && Number.isSafeInteger(Number(literal));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Digits and `.`, `e`, `E`, `+`, `-`. */
function isNumberPart(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === MINUS;
}

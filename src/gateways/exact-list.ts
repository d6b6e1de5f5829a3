import { parseExactJson } from './exact-json.ts';

/** Far deeper than what an entry may have to be read, so that one that is cut is none; far from where writing it runs out of stack. */
const DEEPEST_NESTING = 1_000;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/gs;

/**
 * `parseExactJson` for a list of what others wrote, where one entry must not make the others unreadable: what is nested deeper than
 * any event is left in place, and beyond 1,000 levels replaced by null. Throws `SyntaxError` for what is not JSON.
 */
export function parseExactList(text: string): unknown {
  return parseExactJson(withoutDepths(text), DEEPEST_NESTING);
}

function withoutDepths(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  let copied = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth === DEEPEST_NESTING + 1) parts.push(text.slice(copied, index), 'null');
    } else if (token === '}' || token === ']') {
      if (depth === DEEPEST_NESTING + 1) copied = index + 1;
      depth -= 1;
    }
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(copied);
}

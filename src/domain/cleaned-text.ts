/** What stands for a character that PostgreSQL's text and jsonb cannot hold. */
const REPLACEMENT = '\ufffd';

// A lone half of a surrogate pair; with the u flag a whole pair is one character and does not match.
const UNSTORABLE = /\0|\p{Surrogate}/gu;

/** Whether PostgreSQL can hold the text as it is. */
export function isStorableText(text: string): boolean {
  return text.search(UNSTORABLE) === -1;
}

/** The text with NUL and lone surrogates replaced; whole pairs (emoji) stay. */
export function cleanedText(text: string): string {
  return text.replace(UNSTORABLE, REPLACEMENT);
}

const ESCAPES = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u([0-9a-fA-F]{4})|\\./g;

/**
 * The same JSON as `jsonb` takes it: escapes of NUL and of lone surrogates are replaced, in names and values. It works on
 * the text, so that no number is rounded on the way.
 *
 * @param json valid JSON
 */
export function cleanedJson(json: string): string {
  return json.replace(ESCAPES, (escape: string, code: string | undefined) =>
    code !== undefined && /^(0000|d[89a-f]..)$/i.test(code) ? REPLACEMENT : escape,
  );
}

/** How deep arrays and objects stand inside each other. Looks at the text alone, so that no recursion can overflow. */
export function jsonDepth(json: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, (depth += 1));
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}

import { parse } from 'yaml';
import { pathText } from '../domain/path-text.ts';
import type { Mistake } from './mistakes.ts';

/*
 * `${NAME}` stands bare in YAML as often as in quotes, also inside `{…}`, where YAML itself would read a mapping. So each one
 * becomes an inert token before YAML looks at it, and the tokens become values afterwards, in texts only: nothing in a
 * variable's value is ever read as YAML. The two marks are private-use characters, which no configuration contains.
 */
const OPEN = '\uE000';
const CLOSE = '\uE001';
const TOKEN = new RegExp(`${OPEN}([A-Za-z_][A-Za-z0-9_]*)${CLOSE}`, 'g');

/** Settings that are simply off while the variable they name is not set. */
const OPTIONAL: readonly string[] = ['mail.smtp_url', 'alerts.slack_url'];

/** Reads YAML or JSON with `${NAME}` filled in from `variables`; what cannot be filled in is null and named in `mistakes`. */
export function readSettings(
  content: string,
  variables: Readonly<Record<string, string>>,
): { value: unknown; mistakes: Mistake[] } {
  const mistakes: Mistake[] = [];

  const fillText = (text: string, path: string): string | null => {
    const names = [...text.matchAll(TOKEN)].map(([, name = '']) => name);
    const missing = names.filter((name) => !Object.hasOwn(variables, name));
    if (missing.length > 0 && OPTIONAL.includes(path)) return null;
    mistakes.push(...missing.map((name) => ({ path, advice: `the environment variable ${name} is not set; set it` })));
    if (text.includes('${')) mistakes.push({ path, advice: 'only ${NAME} is understood, of letters, digits and "_"' });
    if (missing.length > 0) return null;
    return text.replaceAll(TOKEN, (_, name: string) => variables[name] ?? '');
  };
  const fill = (value: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof value === 'string') return fillText(value, pathText(path));
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [asWritten(key), fill(item, [...path, asWritten(key)])]),
    );
  };

  try {
    const parsed: unknown = parse(content.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, `${OPEN}$1${CLOSE}`), {
      logLevel: 'error',
    });
    return { value: fill(parsed ?? {}, []), mistakes };
  } catch (error) {
    // The first line says what and where; the rest quotes the file, which may hold secrets.
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return {
      value: {},
      mistakes: [{ path: 'PAIDONCE_CONFIG', advice: `its file is neither YAML nor JSON: ${asWritten(reason)}` }],
    };
  }
}

function asWritten(text: string): string {
  return text.replaceAll(TOKEN, '${$1}');
}

import type { z } from 'zod';
import { pathText } from '../domain/path-text.ts';
import { Problem, type RequestMistake } from '../domain/problem.ts';

/** Each of zod's issues as a mistake of its own, with what is to be done about it. */
function mistakesOf(error: z.ZodError): RequestMistake[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: pathText([...issue.path, key]),
        message: 'is not a field of this request',
      }));
    }
    const missing = issue.code === 'invalid_type' && issue.input === undefined;
    return [{ path: pathText(issue.path), message: missing ? 'is missing' : issue.message }];
  });
}

/**
 * Checks a request against its schema and lists every mistake at once.
 *
 * @param found mistakes that were found on the way; where one of them names the same place, it is the better one
 * @throws Problem `validation_failed`
 */
export function validated<S extends z.ZodType>(
  schema: S,
  value: unknown,
  found: readonly RequestMistake[] = [],
): z.output<S> {
  const parsed = schema.safeParse(value, { reportInput: true });
  const places = new Set(found.map((mistake) => mistake.path));
  const mistakes = parsed.success ? [] : mistakesOf(parsed.error).filter((mistake) => !places.has(mistake.path));
  const all = [...found, ...mistakes];
  if (parsed.success && all.length === 0) return parsed.data;
  const first = all[0];
  const detail =
    all.length === 1 ? `${first?.path || 'The body'} ${first?.message}.` : `${all.length} mistakes; see errors.`;
  throw new Problem('validation_failed', detail, { errors: all });
}

/** One mistake, found after the schema was satisfied. */
export function mistake(path: string, message: string): Problem {
  return new Problem('validation_failed', `${path} ${message}.`, { errors: [{ path, message }] });
}

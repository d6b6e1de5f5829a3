import type { z } from 'zod';
import { validated } from '../../api/mistakes.ts';
import { Problem } from '../../domain/problem.ts';
import type { FileRow } from './read-rows.ts';

/**
 * Each row as the API's own schema takes it, and every mistake with its place.
 *
 * @param unique fields whose values may stand in one row only, with what to say otherwise
 */
export function checkRows<S extends z.ZodType>(
  rows: readonly FileRow[],
  schema: S,
  unique: readonly { readonly of: (fields: FileRow['fields']) => string; readonly says: (place: string) => string }[],
): { readonly entries: { readonly place: string; readonly entry: z.input<S> }[]; readonly mistakes: string[] } {
  const mistakes: string[] = [];
  const entries: { place: string; entry: z.input<S> }[] = [];
  const places = unique.map(() => new Map<string, string>());
  for (const { place, fields } of rows) {
    unique.forEach(({ of, says }, at) => {
      const earlier = places[at]?.get(of(fields));
      if (earlier === undefined) places[at]?.set(of(fields), place);
      else mistakes.push(`${place}: ${says(earlier)}`);
    });
    try {
      validated(schema, fields);
      entries.push({ place, entry: fields as z.input<S> });
    } catch (error) {
      if (!(error instanceof Problem) || error.errors === null) throw error;
      mistakes.push(...error.errors.map((mistake) => `${place}: ${`${mistake.path} ${mistake.message}`.trim()}`));
    }
  }
  return { entries, mistakes };
}

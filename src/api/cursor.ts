import { mistake } from './mistakes.ts';

/** A place in a list as clients carry it: opaque to them, so that it may change. */
export function encodeCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/**
 * The inverse.
 *
 * @param shape one pattern per part, so that nothing but what we made reaches the database
 * @throws Problem `validation_failed` for a cursor that is none of this list's
 */
export function decodeCursor(cursor: string, shape: readonly RegExp[]): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(parts) && parts.length === shape.length) {
      const texts = parts.map(String);
      if (texts.every((text, at) => shape[at]?.test(text))) return texts;
    }
  } catch {
    // Said below.
  }
  throw mistake('cursor', 'is not one that this list gave out');
}

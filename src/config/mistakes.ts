import type { z } from 'zod';
import { pathText } from '../domain/path-text.ts';

/** All that is wrong with the settings, at once: each entry names the setting and says what to do. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    const count = mistakes.length === 1 ? 'One mistake' : `${mistakes.length} mistakes`;
    super(`${count} in the configuration:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`);
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

/** A setting by its path as it is written, and what to do about it. */
export interface Mistake {
  readonly path: string;
  readonly advice: string;
}

/** One per issue of zod, below `parent`. Values are never repeated: they may be secrets. */
export function mistakesOf(error: z.ZodError, parent: readonly PropertyKey[] = []): Mistake[] {
  return error.issues.flatMap((issue) => {
    const path = [...parent, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: pathText([...path, key]),
        advice: 'there is no such setting; correct its name or remove it',
      }));
    }
    return [{ path: pathText(path), advice: issue.message }];
  });
}

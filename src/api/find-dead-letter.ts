import { type DeadLetterView, readDeadLetter } from '../database/list-dead-letters.ts';
import { isStorableText } from '../domain/cleaned-text.ts';
import { Problem } from '../domain/problem.ts';
import type { ApiDeps } from './deps.ts';

/**
 * The dead letter that an address names. Its id is made of others' ids, in which `%` stands for what would be misread: whoever
 * writes the id into the address as it is printed means it as well.
 *
 * @param id decoded
 * @param raw as it stands in the address
 * @throws Problem `not_found`
 */
export async function findDeadLetter(
  { pool }: Pick<ApiDeps, 'pool'>,
  id: string,
  raw: string,
): Promise<DeadLetterView> {
  for (const candidate of new Set([id, raw])) {
    const found = isStorableText(candidate) ? await readDeadLetter(pool, candidate) : null;
    if (found !== null) return found;
  }
  throw new Problem('not_found', 'There is no dead letter of this id.');
}

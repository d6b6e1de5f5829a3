import { canonicalJson } from '../../domain/canonical-json.ts';
import { Refusal } from './refusal.ts';
import type { State } from './state.ts';

/**
 * Runs `work` once for each Idempotency-Key: the same request again gets the same object, or the same refusal although
 * it might be granted by now, as gateways do; another request under the key is refused.
 */
export function onceByKey(
  state: State,
  call: string,
  key: string | null,
  body: unknown,
  work: () => { id: string },
): string {
  if (key === null) return work().id;
  const id = `${call} ${key}`;
  const request = canonicalJson(body);
  const used = state.keys.get(id);
  if (used) {
    if (used.request !== request) throw new Refusal(409, 'idempotency_key_reused');
    if (used.refusal) throw new Refusal(used.refusal.status, used.refusal.code);
    if (used.object_id !== null) return used.object_id;
  }
  try {
    const object = work();
    state.commit(['keys', { id, request, object_id: object.id, refusal: null }]);
    return object.id;
  } catch (error) {
    if (error instanceof Refusal) {
      const { status, code } = error;
      state.commit(['keys', { id, request, object_id: null, refusal: { status, code } }]);
    }
    throw error;
  }
}

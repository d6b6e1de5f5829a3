import { createHash } from 'node:crypto';
import {
  claimKey,
  type Claim,
  keepReservation,
  type KeyedRequest,
  releaseLease,
  storeAnswer,
  type StoredAnswer,
} from '../database/idempotency.ts';
import { inTransaction, type Tx } from '../database/pool.ts';
import { isDatabaseUnavailable } from '../database/postgres-errors.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { Problem } from '../domain/problem.ts';
import type { ApiDeps } from './deps.ts';
import type { HttpAnswer } from './problem-response.ts';

/** What a request under a key does. */
export interface KeyedOperation {
  /**
   * Writes the business row in the transaction of the claim; a Problem thrown here rolls both back, so that a refusal is
   * never stored. Answers at once, or names what it reserved.
   */
  readonly reserve: (tx: Tx) => Promise<{ readonly answer: StoredAnswer } | { readonly reservation: string }>;
  /**
   * Answers with the truth about a reservation: for the request that made it, and for a later one that finds it interrupted
   * (E4). Safe to run twice, and beside itself.
   */
  readonly complete: (reservation: string) => Promise<StoredAnswer>;
}

/** A request under an Idempotency-Key. */
export interface KeyedCall {
  readonly client: string;
  readonly method: string;
  /** The concrete path, spelt in one way. */
  readonly path: string;
  readonly key: string;
  /** The JSON as it was sent. */
  readonly sent: unknown;
}

/** A request that is still running answers within seconds. */
const RUNNING_RETRY_SECONDS = 2;
/** A database that went away is back within seconds. */
const UNAVAILABLE_RETRY_SECONDS = 2;

/** Where a key means something, and nowhere else (E3): one client, one method, one concrete path. */
export function keyScope({ client, method, path }: KeyedCall): string {
  return `${client} ${method} ${path}`;
}

/** As its claim is kept; two requests are the same where the canonical forms of their JSON are. */
export function keyedRequest(call: KeyedCall): KeyedRequest {
  const hash = createHash('sha256').update(canonicalJson(call.sent)).digest();
  return { scope: keyScope(call), key: call.key, hash };
}

export function keyReused(): Problem {
  return new Problem('idempotency_key_reused', 'This key was used with another request; send a fresh one.');
}

/**
 * Runs a request under its Idempotency-Key once (E2–E4): the claim and the reservation commit together, the work happens
 * after, the first to store an answer wins, and everyone answers with what is stored.
 *
 * @throws Problem `idempotency_key_reused`, `request_in_progress`, and what the operation refuses
 */
export async function runIdempotent(
  deps: Pick<ApiDeps, 'pool' | 'policies' | 'log'>,
  call: KeyedCall,
  operation: KeyedOperation,
): Promise<HttpAnswer> {
  const request = keyedRequest(call);
  const begun = await inTransaction(deps.pool, async (tx) => {
    const claim = await claimKey(tx, request, deps.policies.idempotencyLeaseMs);
    return claim.kind === 'fresh' ? reserve(tx, request, operation) : claim;
  });
  switch (begun.kind) {
    case 'answered':
      return begun.answer;
    case 'done':
      return replayed(begun.answer);
    case 'running':
      throw new Problem('request_in_progress', 'The first request under this key has not answered yet.', {
        retryAfterSeconds: RUNNING_RETRY_SECONDS,
      });
    case 'other_request':
      throw keyReused();
    case 'interrupted':
      return complete(deps, request, operation, begun.reservation);
  }
}

type Begun = Exclude<Claim, { kind: 'fresh' }> | { readonly kind: 'answered'; readonly answer: StoredAnswer };

async function reserve(tx: Tx, request: KeyedRequest, operation: KeyedOperation): Promise<Begun> {
  const reserved = await operation.reserve(tx);
  if ('answer' in reserved) {
    await storeAnswer(tx, request, reserved.answer);
    return { kind: 'answered', answer: reserved.answer };
  }
  await keepReservation(tx, request, reserved.reservation);
  // From the commit on it is what an interrupted one is: something reserved that is to be completed.
  return { kind: 'interrupted', reservation: reserved.reservation };
}

async function complete(
  deps: Pick<ApiDeps, 'pool' | 'log'>,
  request: KeyedRequest,
  operation: KeyedOperation,
  reservation: string,
): Promise<HttpAnswer> {
  try {
    const stored = await storeAnswer(deps.pool, request, await operation.complete(reservation));
    return stored.first ? stored.answer : replayed(stored.answer);
  } catch (error) {
    // The reservation stands. Whoever asks next completes it, at once if this can still be written.
    await releaseLease(deps.pool, request).catch((cause: unknown) => {
      deps.log.debug({ err: cause, reservation }, 'lease not released; it runs out by itself');
    });
    if (!isDatabaseUnavailable(error)) throw error;
    // Whoever reads that nothing was stored would send it again under a fresh key.
    throw new Problem(
      'unavailable',
      'The database went away while this was under way. What was asked for stands: send it again under the same key.',
      { retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS },
    );
  }
}

function replayed(answer: StoredAnswer): HttpAnswer {
  return { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } };
}

import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { noteAbsent, noteAnswered, readGatewayCall } from '../database/gateway-call.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import { gatewayCallKey } from '../domain/keys.ts';
import type { Gateway } from '../gateways/gateway.ts';
import type { Dependencies } from './dependencies.ts';

/** One call that moves money, as seen by the rule below. */
export interface MoneyCall<Found> {
  /** Ours, the same in every attempt. */
  readonly reference: string;
  /** By our reference; null where the gateway has nothing under it. */
  find(): Promise<Found | null>;
  /**
   * Writes that an answer is outstanding, then sends; null where it must not be sent any more.
   *
   * @param idempotencyKey another one only after a repaired rejection (F3)
   * @param at the engine's time of this attempt
   */
  create(idempotencyKey: string, at: Date): Promise<Found | null>;
}

export type MoneyCallResult<Found> =
  | { readonly result: 'done'; readonly found: Found }
  | { readonly result: 'withdrawn' }
  | { readonly result: 'rejected'; readonly error: GatewayError };

/**
 * The one way in which money-moving calls are made (F2, F3): look by our reference, create only if absent; after an
 * answer that never came, "absent" needs two look-ups apart by the gateway's settle time, since the first request may still
 * be running there. Everything that it must remember is in PostgreSQL before anything is sent. Whatever is thrown is
 * retried by Temporal and comes back to the look-up first.
 */
export async function lookThenCreate<Found>(
  deps: Dependencies,
  gateway: Gateway,
  call: MoneyCall<Found>,
): Promise<MoneyCallResult<Found>> {
  // The engine's clock: it is the one that spaces the attempts.
  const at = new Date(Context.current().info.currentAttemptScheduledTimestampMs);
  const state = await readGatewayCall(deps.pool, call.reference);
  const found = await counted(deps, gateway, 'find', () => call.find());
  if (found !== null) return { result: 'done', found };
  if (state.unanswered) {
    // A policy only ever lengthens the gateway's own settle time.
    const settleMs = Math.max(gateway.capabilities.settleMs, deps.policies.unknownSettleMs ?? 0);
    const apart = state.absentSince === null ? 0 : at.getTime() - state.absentSince.getTime();
    if (apart < settleMs) {
      await noteAbsent(deps.pool, call.reference, at);
      throw ApplicationFailure.create({
        type: 'NotSettled',
        message: `The answer to an earlier request never came, and the gateway shows nothing under ${call.reference} yet: looking again before anything is sent.`,
        nextRetryDelay: Math.max(1, settleMs - apart),
      });
    }
  }
  try {
    const key = gatewayCallKey(call.reference, state.attempt);
    const created = await counted(deps, gateway, 'create', () => call.create(key, at));
    return created === null ? { result: 'withdrawn' } : { result: 'done', found: created };
  } catch (error) {
    // Nothing happened there, so nothing is outstanding.
    if (error instanceof GatewayError && error.kind !== 'unknown') await noteAnswered(deps.pool, call.reference);
    if (error instanceof GatewayError && error.kind === 'rejected') return { result: 'rejected', error };
    throw error;
  }
}

async function counted<T>(
  deps: Dependencies,
  { source }: Gateway,
  call: 'find' | 'create',
  work: () => Promise<T>,
): Promise<T> {
  try {
    const answer = await work();
    deps.metrics.gatewayCalls.inc({ source, call, result: 'answered' });
    return answer;
  } catch (error) {
    deps.metrics.gatewayCalls.inc({ source, call, result: error instanceof GatewayError ? error.kind : 'error' });
    throw error;
  }
}

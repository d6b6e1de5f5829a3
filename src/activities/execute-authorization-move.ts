import {
  readAuthorizationMove,
  recordPlacedAuthorizationMove,
  type AuthorizationMove,
} from '../database/authorization-move.ts';
import { noteAnswered, noteSending } from '../database/gateway-call.ts';
import { giveUpMove } from '../database/give-up-move.ts';
import { authorizationMoveEnd, type AuthorizationMoveKind } from '../domain/authorization-moves.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { PaymentFacts } from '../domain/gateway-facts.ts';
import type { Gateway } from '../gateways/gateway.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { mayBeSent, readProgress, type MoneyProgress } from './money-progress.ts';
import { settleByPayment } from './settle-by-payment.ts';
import { sourceOf } from './source-of.ts';

/** Said of a payment that has not ended, these contradict what the gateway shows: a person must look. */
const CONTRADICTIONS: ReadonlySet<string> = new Set(['already_captured', 'already_voided']);

/**
 * One attempt to capture or to void an authorised payment. The payment itself is what is looked for: that it has ended is
 * what was asked for, or its contrary, whoever ended it. What it came to is not decided here but by the payment's own
 * workflow, exactly as for a webhook.
 */
export function createExecuteAuthorizationMove(deps: Dependencies) {
  return async function executeAuthorizationMove(kind: AuthorizationMoveKind, id: string): Promise<MoneyProgress> {
    const move = await readAuthorizationMove(deps.pool, kind, id);
    if (move === null) throw new Error(`There is no ${kind} ${id}.`);
    const before = await readProgress(deps.pool, kind, id);
    if (before.status === 'succeeded' && !before.givenUp && !move.paymentEnded) {
      // A person says that it succeeded: what it made of the payment is to be seen there.
      await settleByPayment(deps, move);
      return readProgress(deps.pool, kind, id);
    }
    if (!mayBeSent(before)) return before;
    const { gateway } = sourceOf(deps, move.source);
    const { source, reference } = move;
    const sent = await lookThenCreate<PaymentFacts>(deps, gateway, {
      reference,
      find: () => findEnded(gateway, move.paymentId),
      create: async (idempotencyKey, at) => {
        await noteSending(deps.pool, { source, reference, at });
        const order = { ...move, idempotencyKey };
        return kind === 'capture' ? gateway.capturePayment(order) : gateway.voidPayment(order);
      },
    });
    if (sent.result === 'done') await take(deps, kind, move, sent.found);
    if (sent.result === 'rejected') await handleRejection(deps, gateway, kind, move, sent.error);
    return readProgress(deps.pool, kind, id);
  };
}

/** The payment, once it is captured, failed or expired; null while it may still become each of them. */
async function findEnded(gateway: Gateway, paymentId: string): Promise<PaymentFacts | null> {
  const facts = await gateway.fetchPayment(paymentId);
  if (facts === null) {
    const message = `${gateway.source} does not know the payment ${paymentId} any more.`;
    throw new GatewayError(message, { kind: 'temporary', code: 'unknown_payment' });
  }
  return authorizationMoveEnd('capture', facts.status) === null ? null : facts;
}

/** The gateway has answered, or shows that the payment has ended. */
async function take(
  deps: Dependencies,
  kind: AuthorizationMoveKind,
  move: AuthorizationMove,
  facts: PaymentFacts,
): Promise<void> {
  if (authorizationMoveEnd(kind, facts.status)?.status !== 'failed') {
    return recordPlacedAuthorizationMove(deps.pool, kind, move);
  }
  await noteAnswered(deps.pool, move.reference);
  await settleByPayment(deps, move);
}

/** A no is believed only after reading the payment back: the first answer may have been lost, or somebody else was faster (D2). */
async function handleRejection(
  deps: Dependencies,
  gateway: Gateway,
  kind: AuthorizationMoveKind,
  move: AuthorizationMove,
  error: GatewayError,
): Promise<void> {
  const ended = await findEnded(gateway, move.paymentId);
  if (ended !== null) return take(deps, kind, move, ended);
  const end = error.ourFault || CONTRADICTIONS.has(error.code) ? 'rejected' : 'declined';
  await giveUpMove(deps.pool, { kind, id: move.id }, end, error);
}

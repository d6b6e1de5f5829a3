import { moneyWorkflowId } from '../database/money-move.ts';
import type { Tx } from '../database/pool.ts';
import { moneyPath } from '../database/reservation.ts';
import { reserveAuthorizationMove, type AuthorizationMoveRequest } from '../database/reserve-authorization-move.ts';
import { isUsableId } from '../domain/admit-event.ts';
import type { AuthorizationMoveKind } from '../domain/authorization-moves.ts';
import { authorizationMoveId } from '../domain/keys.ts';
import { Problem } from '../domain/problem.ts';
import { completeReservation } from './complete-reservation.ts';
import type { ApiDeps } from './deps.ts';
import { noPayment } from './no-payment.ts';
import type { HttpAnswer } from './problem-response.ts';
import { runIdempotent } from './run-idempotent.ts';
import { sourceThat } from './source-that.ts';

/** A refusal cannot be told from another one by a message alone, so each kind of move has codes of its own. */
const CODES = {
  capture: { exists: 'capture_exists', notNow: 'payment_not_capturable', can: 'capturesPayments' },
  void: { exists: 'void_exists', notNow: 'payment_not_voidable', can: 'voidsPayments' },
} as const;

/** What is asked for. */
export interface AuthorizationCall {
  readonly kind: AuthorizationMoveKind;
  readonly source: string;
  readonly paymentId: string;
  readonly amount: bigint | null;
  readonly client: string;
  readonly key: string;
  readonly sent: unknown;
}

/**
 * Captures or voids an authorised payment, once: a payment has one capture and one void at most, whoever asks and under
 * which key.
 *
 * @throws Problem what the route names
 */
export async function runAuthorizationMove(
  deps: Pick<ApiDeps, 'pool' | 'policies' | 'log' | 'temporal' | 'sources'>,
  { kind, source, paymentId, amount, client, key, sent }: AuthorizationCall,
): Promise<HttpAnswer> {
  // A source that is not configured has no payments that anybody could end.
  if (!deps.sources.has(source) || !isUsableId(paymentId)) throw noPayment();
  const id = authorizationMoveId(source, paymentId);
  return runIdempotent(
    deps,
    { client, method: 'POST', path: moneyPath(kind, id), key, sent },
    {
      async reserve(tx) {
        sourceThat(deps, CODES[kind].can, source);
        if (amount !== null) sourceThat(deps, 'capturesParts', source);
        await reserve(tx, { kind, source, paymentId, amount, requestedBy: client });
        return { reservation: moneyWorkflowId(kind, id) };
      },
      complete: (reservation) => completeReservation(deps, reservation),
    },
  );
}

async function reserve(tx: Tx, request: AuthorizationMoveRequest): Promise<void> {
  const { kind, source, paymentId } = request;
  const reserved = await reserveAuthorizationMove(tx, request);
  const id = authorizationMoveId(source, paymentId);
  const opposite = kind === 'capture' ? 'void' : 'capture';
  switch (reserved.result) {
    case 'reserved':
      return;
    case 'payment_not_found':
      throw noPayment();
    case 'exists':
      throw new Problem(CODES[kind].exists, `A ${kind} of this payment was asked for before; Location shows it.`, {
        headers: { location: moneyPath(kind, id) },
      });
    case 'opposite_exists':
      throw new Problem(CODES[kind].notNow, `A ${opposite} of this payment was asked for before; Location shows it.`, {
        headers: { location: moneyPath(opposite, id) },
      });
    case 'not_authorized':
      throw new Problem(CODES[kind].notNow, `The payment is ${reserved.status}; only an authorised one can.`);
    case 'order_not_payable':
      throw new Problem('order_not_payable', 'The order is paid, cancelled or expired: void the payment.');
    case 'other_currency':
      throw new Problem(
        'currency_mismatch',
        `The order is in ${reserved.ofOrder}, the payment in ${reserved.currency}: void the payment.`,
      );
    case 'exceeds_authorized':
      throw new Problem(
        'capture_exceeds_authorized',
        `Of this payment ${reserved.authorized} ${reserved.currency} (minor units) are authorised.`,
      );
    case 'changed_meanwhile':
      throw new Problem('unavailable', 'The payment was matched with its order just now; nothing was stored.', {
        retryAfterSeconds: 1,
      });
  }
}

import type { AuthorizationMoveKind } from '../../domain/authorization-moves.ts';
import { authorizationMoveId } from '../../domain/keys.ts';
import { getMove } from '../get-move.ts';
import { defineRoute } from '../route.ts';
import { runAuthorizationMove } from '../run-authorization-move.ts';
import { capture, newCapture, newVoid, voided } from '../schemas/money.ts';

const PAYMENT = '/v1/payments/{source}/{payment_id}';
const ANSWERED = 'The gateway has answered; what it refused is failed.';
const NOT_YET = 'It has not yet, or a person decides; Location shows what becomes of it.';

export const capturePayment = defineRoute({
  method: 'POST',
  path: `${PAYMENT}/capture`,
  scope: 'money',
  summary: 'Capture an authorised payment, or a part of it.',
  keyed: true,
  body: newCapture,
  answers: {
    201: { description: ANSWERED, schema: capture },
    202: { description: NOT_YET, schema: capture },
  },
  problems: [
    ...(['payment_not_found', 'payment_not_capturable', 'capture_exists', 'order_not_payable'] as const),
    ...(['capture_exceeds_authorized', 'currency_mismatch', 'not_supported'] as const),
  ],
  handle: (deps, { params, client, idempotencyKey: key, body, sent }) =>
    runAuthorizationMove(deps, {
      ...{ kind: 'capture', source: params.source, paymentId: params.payment_id, client, key, sent },
      amount: body.amount == null ? null : BigInt(body.amount),
    }),
});

export const voidPayment = defineRoute({
  method: 'POST',
  path: `${PAYMENT}/void`,
  scope: 'money',
  summary: 'Let an authorised payment go.',
  keyed: true,
  body: newVoid,
  answers: {
    201: { description: ANSWERED, schema: voided },
    202: { description: NOT_YET, schema: voided },
  },
  problems: ['payment_not_found', 'payment_not_voidable', 'void_exists', 'not_supported'],
  handle: (deps, { params, client, idempotencyKey: key, sent }) =>
    runAuthorizationMove(deps, {
      ...{ kind: 'void', source: params.source, paymentId: params.payment_id, amount: null, client, key, sent },
    }),
});

export const getCapture = shown('capture');
export const getVoid = shown('void');

function shown(kind: AuthorizationMoveKind) {
  return defineRoute({
    method: 'GET',
    path: `${PAYMENT}/${kind}`,
    scope: 'money',
    summary: `The ${kind} of a payment as it stands.`,
    answers: { 200: { description: `The ${kind}.`, schema: kind === 'capture' ? capture : voided } },
    problems: ['not_found'],
    handle: (deps, { params }) => getMove(deps, kind, authorizationMoveId(params.source, params.payment_id)),
  });
}

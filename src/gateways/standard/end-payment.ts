import { GatewayError } from '../../domain/gateway-error.ts';
import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import type { SourceConfig } from '../../domain/source-config.ts';
import type { AuthorizationOrder } from '../gateway.ts';
import { paymentAnswer } from './answers.ts';
import { objectPath } from './paths.ts';
import type { StandardApi } from './standard-api.ts';

/**
 * Captures or voids an authorised payment, where the source says that its gateway knows the call: the protocol itself has
 * none. Throws as `Gateway` says.
 */
export async function endPayment(
  api: StandardApi,
  { name, extensions = [] }: Pick<SourceConfig, 'name' | 'extensions'>,
  end: 'capture' | 'void',
  { paymentId, amount, reference, idempotencyKey }: AuthorizationOrder,
): Promise<PaymentFacts> {
  if (!extensions.includes(end)) throw refusal(`${name} has no call to ${end} a payment`, 'not_supported');
  const payment = objectPath('/payments', paymentId);
  if (payment === null) throw refusal(`${name} has no payments with ids like ${paymentId}`, 'unknown_payment');
  const path = `${payment}/${end}`;
  const body = { ...(end === 'capture' ? { amount: api.jsonAmount(amount) } : {}), reference };
  const facts = await api.write(path, body, idempotencyKey, paymentAnswer);
  if (facts.paymentId !== paymentId) throw api.odd(path, 'unknown');
  return facts;
}

function refusal(why: string, code: string): GatewayError {
  return new GatewayError(`${why}, so nothing was sent.`, { kind: 'rejected', code, ourFault: true });
}

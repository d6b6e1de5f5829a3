import { Problem } from '../domain/problem.ts';
import type { ApiDeps } from './deps.ts';
import { mistake } from './mistakes.ts';
import type { Source } from '../gateways/admitted.ts';

const CANNOT = {
  chargesSavedCards: 'cannot charge a saved card without its holder',
  paysOut: 'cannot pay out to sellers',
  capturesPayments: 'has no call that captures an authorised payment',
  capturesParts: 'captures an authorised payment whole or not at all',
  voidsPayments: 'has no call that voids an authorised payment',
} as const;

/**
 * The configured source of that name, if its gateway can do what is asked.
 *
 * @throws Problem `validation_failed`, `not_supported`
 */
export function sourceThat(
  { sources }: Pick<ApiDeps, 'sources'>,
  capability: keyof typeof CANNOT,
  name: string,
): Source {
  const source = sources.get(name);
  if (source === undefined) throw mistake('source', 'is not the name of a configured source');
  if (!source.gateway.capabilities[capability]) {
    throw new Problem('not_supported', `The gateway of ${name} ${CANNOT[capability]}.`);
  }
  return source;
}

import type { Policies } from '../domain/policies.ts';
import type { Gateway } from '../gateways/gateway.ts';

/** The gateway's own settle time; a policy only ever lengthens it (F2). Milliseconds. */
export function settleTime(gateway: Gateway, policies: Policies): number {
  return Math.max(gateway.capabilities.settleMs, policies.unknownSettleMs ?? 0);
}

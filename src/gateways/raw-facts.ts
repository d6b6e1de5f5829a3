import type { EventReading, EventSubject } from '../domain/event-reading.ts';
import { isPresent, readAmount, readCurrency, readId, readReference } from './fields.ts';
import { toIsoAmount, type GatewayCurrencies } from './minor-units.ts';

/** What one event says about its subject, still as raw as it came: undefined and null for what is absent. */
export interface RawFacts {
  /** Where the event is about another thing than its type says. */
  readonly subject?: EventSubject;
  readonly objectId: unknown;
  readonly paymentId: unknown;
  readonly claimed: EventReading['claimed'];
  /** In the gateway's own units. */
  readonly amount: unknown;
  readonly currency: unknown;
  /** Where an order id may stand; the first that is not empty counts. */
  readonly orderIds: readonly unknown[];
  readonly reference: unknown;
  /** Of a dispute, where the event tells. */
  readonly withheld?: boolean | null;
  /** Why a human must look at it, as a sentence. */
  readonly problem?: string;
}

/** Judges raw facts: taken if all that is there can be understood, held with the reasons if not (A7). */
export function readRawFacts(
  usualSubject: EventSubject,
  raw: RawFacts,
  currencies: GatewayCurrencies,
): Partial<EventReading> {
  const subject = raw.subject ?? usualSubject;
  const problems = raw.problem === undefined ? [] : [raw.problem];
  /** Null for what is absent and for what cannot be understood; the latter is a problem. */
  function known<T>(found: T | null | undefined, problem: string): T | null {
    if (found === undefined) problems.push(problem);
    return found ?? null;
  }

  const paymentId = known(readId(raw.paymentId), 'Its payment id is not 1 to 200 visible ASCII characters.');
  const objectId = known(readId(raw.objectId), 'Its own id is not 1 to 200 visible ASCII characters.');
  const orderId = known(readId(raw.orderIds.find(isPresent)), 'Its order id is not 1 to 200 visible ASCII characters.');
  const currency = known(readCurrency(raw.currency), 'Its currency is not a code of three letters.');
  const counted = known(readAmount(raw.amount), 'Its amount is not a whole number that can be read exactly.');
  let amount: bigint | null = null;
  if (counted !== null && currency !== null) {
    amount = toIsoAmount(counted, currency, currencies);
    if (amount === null) problems.push(`Its amount of ${counted} cannot be expressed exactly in ${currency}.`);
  }
  const id = subject === 'payout' ? raw.objectId : raw.paymentId;
  if (id === undefined || id === null) problems.push(`It names no ${subject === 'payout' ? 'payout' : 'payment'}.`);
  return {
    verdict: problems.length === 0 ? 'take' : 'hold',
    reason: problems.join(' ') || null,
    subject,
    objectId,
    paymentId,
    orderId,
    claimed: raw.claimed,
    amount,
    currency,
    withheld: raw.withheld ?? null,
    reference: readReference(raw.reference),
  };
}

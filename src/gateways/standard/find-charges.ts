import type { PaymentFacts } from '../../domain/gateway-facts.ts';
import { paymentsAnswer } from './answers.ts';
import { queryPath } from './paths.ts';
import type { StandardApi } from './standard-api.ts';

/** What we charged under the reference; the protocol does not say whose card it was. Throws `temporary` alone. */
export async function findCharges(api: StandardApi, reference: string): Promise<PaymentFacts[]> {
  const payments = await api.readList(queryPath('/payments', { reference }), paymentsAnswer);
  // A gateway that does not know the filter answers with everybody's.
  return payments.filter((payment) => payment.reference === reference);
}

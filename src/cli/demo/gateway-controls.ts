import type { FaultSettings } from '../../gateways/simulator/faults.ts';
import { CommandError } from '../command-error.ts';
import { patientFetch, type PatientCall } from './patient-fetch.ts';
import type { PaymentStep, PlannedPayment } from './plan-storm.ts';

/** What the simulator knows, as far as the demo looks at it. */
export interface GatewayState {
  readonly refunds: readonly { readonly payment_id: string; readonly amount: number; readonly status: string }[];
  readonly pending: readonly { readonly event_id: string }[];
  readonly deliveries: { readonly attempts: number };
  readonly calls: Readonly<Record<string, number>>;
  readonly faults_met: Readonly<Record<string, number>>;
}

/** The controls of the simulator that the demo uses. */
export interface GatewayControls {
  faults(): Promise<FaultSettings>;
  setFaults(faults: FaultSettings): Promise<void>;
  /** Makes the payment in its first state. Repeating it changes nothing. */
  makePayment(payment: PlannedPayment, orderId: string, currency: string): Promise<void>;
  /** Takes the payment one step on. Repeating it changes nothing. */
  movePayment(payment: PlannedPayment, to: PaymentStep): Promise<void>;
  state(): Promise<GatewayState>;
}

const VERBS: Readonly<Record<PaymentStep, string>> = {
  pending: 'pend',
  authorized: 'authorize',
  captured: 'capture',
  failed: 'fail',
};

export function createGatewayControls(simulatorUrl: string): GatewayControls {
  async function control<T>(
    method: PatientCall['method'],
    path: string,
    body?: unknown,
    done: readonly string[] = [],
  ): Promise<T> {
    const call = { method, url: `${simulatorUrl}/sim${path}`, ...(body === undefined ? {} : { body }) };
    const answer = await patientFetch(call);
    const { code = '' } = (answer.body ?? {}) as { code?: string };
    // The answer to an earlier try was lost, and it had been done.
    if (answer.status < 300 || done.includes(code)) return answer.body as T;
    throw new CommandError(`The simulator refused ${method} ${path}: ${code === '' ? String(answer.status) : code}.`);
  }

  return {
    faults: () => control('GET', '/faults'),
    setFaults: (faults) => control('PUT', '/faults', faults),
    makePayment: ({ id, amount, steps, copies }, orderId, currency) =>
      control(
        'POST',
        '/payments',
        { payment_id: id, order_id: orderId, amount, currency, status: steps[0], times: copies },
        ['payment_exists'],
      ),
    movePayment: ({ id, copies }, to) =>
      control('POST', `/payments/${encodeURIComponent(id)}/${VERBS[to]}`, { times: copies }, [
        `already_${to}`,
        `payment_is_${to}`,
      ]),
    state: () => control('GET', '/state'),
  };
}

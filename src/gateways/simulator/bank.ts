import type { Mode } from '../../domain/gateway-facts.ts';
import { PAYMENT_MACHINE, type PaymentStatus } from '../../domain/payment-states.ts';
import type { GatewayRefundStatus } from '../../domain/refund-states.ts';
import { transitionBetween } from '../../domain/state-machine.ts';
import type { Deliveries } from './deliveries.ts';
import { newId } from './ids.ts';
import { Refusal } from './refusal.ts';
import type { Payment, Payout, Refund, SentEvent, State } from './state.ts';

/** How an event goes out; without: once. */
export interface Announce {
  readonly deliver?: boolean | undefined;
  /** Copies sent side by side. */
  readonly times?: number | undefined;
}

interface NewPayment {
  readonly payment_id?: string | undefined;
  readonly order_id: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly status: PaymentStatus;
  readonly reference?: string | null | undefined;
  readonly mode?: Mode | undefined;
  readonly return_url?: string | undefined;
  readonly completes_at?: number | null;
}

interface NewRefund {
  readonly refund_id?: string | undefined;
  readonly payment_id: string;
  readonly amount: number;
  readonly reference?: string | null | undefined;
  readonly status: GatewayRefundStatus;
  readonly completes_at?: number | null;
}

interface NewPayout {
  readonly seller_id: string;
  readonly amount: number;
  readonly currency: string;
  readonly destination: string;
  readonly reference: string;
  readonly status: 'pending' | 'paid';
  readonly completes_at: number | null;
}

/** The money and its rules; each change and its event are one commit. Throws `Refusal`. */
export interface Bank {
  addPayment(payment: NewPayment, announce: Announce | null): Payment;
  movePayment(id: string, to: PaymentStatus, announce?: Announce): Payment;
  /** As the merchant may end what is authorised: by capturing all of it or a part, or by letting it go. */
  endAuthorization(id: string, end: { readonly captured: number | null } | 'void'): Payment;
  payment(id: string): Payment;
  /** What a refund could still take. */
  refundable(payment: Payment): number;
  /** `limited`: as the gateway does for its customer; without, as somebody with the gateway's own tools can. */
  addRefund(refund: NewRefund, announce: Announce, limited: boolean): Refund;
  moveRefund(id: string, to: GatewayRefundStatus, announce?: Announce): Refund;
  refund(id: string): Refund;
  addPayout(payout: NewPayout): Payout;
  movePayout(id: string, to: Payout['status'], announce?: Announce): Payout;
  payout(id: string): Payout;
  /** Any event at all. */
  announce(event: Omit<SentEvent, 'id' | 'timestamp'> & Partial<SentEvent>, announce: Announce): SentEvent;
}

export function createBank(state: State, deliveries: Deliveries): Bank {
  type Changes = Parameters<State['commit']>;

  function commit(
    changes: Changes,
    event: Omit<SentEvent, 'id' | 'timestamp'> & Partial<SentEvent>,
    how: Announce,
  ): SentEvent {
    const named = { id: newId('evt'), timestamp: new Date().toISOString(), ...event };
    const sent: SentEvent = { ...named, ...deliveries.listedFrom(named) };
    const copies = deliveries.plan(sent, { deliver: how.deliver ?? true, times: how.times ?? 1 });
    state.commit(...changes, ['events', sent], ...copies.map((copy) => ['deliveries', copy] as const));
    deliveries.start(copies);
    return sent;
  }

  function savePayment(payment: Payment, how: Announce | null): Payment {
    if (how === null) {
      state.commit(['payments', payment]);
      return payment;
    }
    const { id, order_id, reference, status, amount, currency, mode } = payment;
    const data = { payment_id: id, order_id, reference, status, amount, currency, mode };
    commit([['payments', payment]], { type: `payment.${status}`, data }, how);
    return payment;
  }

  function saveRefund(refund: Refund, how: Announce): Refund {
    const { id, payment_id, reference, status, amount, currency } = refund;
    const { order_id, mode } = payment(payment_id);
    const data = { refund_id: id, payment_id, order_id, reference, status, amount, currency, mode };
    commit([['refunds', refund]], { type: `refund.${status}`, data }, how);
    return refund;
  }

  function savePayout(payout: Payout, how: Announce): Payout {
    const { id, completes_at: _completesAt, ...facts } = payout;
    if (payout.status === 'pending') state.commit(['payouts', payout]);
    else commit([['payouts', payout]], { type: `payout.${payout.status}`, data: { payout_id: id, ...facts } }, how);
    return payout;
  }

  function payment(id: string): Payment {
    return known(state.payments.get(id), 'payment_not_found');
  }

  function refund(id: string): Refund {
    return known(state.refunds.get(id), 'refund_not_found');
  }

  function payout(id: string): Payout {
    return known(state.payouts.get(id), 'payout_not_found');
  }

  function refundable({ id, amount }: Payment): number {
    const standing = state.refunds.by('payment', id).filter(({ status }) => status !== 'failed');
    return standing.reduce((left, { amount: taken }) => left - taken, amount ?? 0);
  }

  return {
    payment,
    refund,
    payout,
    refundable,
    addPayment({ payment_id, ...rest }, how) {
      if (payment_id !== undefined && state.payments.get(payment_id)) throw new Refusal(409, 'payment_exists');
      const { order_id, amount, currency, status, reference, mode, return_url, completes_at } = rest;
      return savePayment(
        {
          id: payment_id ?? newId('pay'),
          order_id,
          reference: reference ?? null,
          status,
          amount,
          currency,
          mode: mode ?? 'test',
          return_url: return_url ?? null,
          completes_at: completes_at ?? null,
        },
        how,
      );
    },
    movePayment(id, to, how = {}) {
      const before = payment(id);
      if (before.status === 'captured') throw new Refusal(409, 'already_captured');
      if (transitionBetween(PAYMENT_MACHINE, before.status, to) === undefined) {
        throw new Refusal(409, `payment_is_${before.status}`);
      }
      return savePayment({ ...before, status: to, completes_at: null }, how);
    },
    endAuthorization(id, end) {
      const before = payment(id);
      if (before.status === 'captured') throw new Refusal(409, 'already_captured');
      if (before.status !== 'authorized') throw new Refusal(409, `payment_is_${before.status}`);
      if (end === 'void') return savePayment({ ...before, status: 'expired', completes_at: null }, {});
      const amount = end.captured ?? before.amount;
      if (amount !== null && before.amount !== null && amount > before.amount) {
        throw new Refusal(422, 'capture_exceeds_authorized');
      }
      return savePayment({ ...before, status: 'captured', amount, completes_at: null }, {});
    },
    addRefund({ refund_id, payment_id, amount, reference, status, completes_at }, how, limited) {
      const of = payment(payment_id);
      if (refund_id !== undefined && state.refunds.get(refund_id)) throw new Refusal(409, 'refund_exists');
      if (of.currency === null) throw new Refusal(422, 'payment_has_no_currency');
      if (limited) {
        if (of.status !== 'captured') throw new Refusal(422, 'payment_not_captured');
        const left = refundable(of);
        if (left <= 0) throw new Refusal(422, 'already_refunded');
        if (amount > left) throw new Refusal(422, 'refund_exceeds_captured');
      }
      return saveRefund(
        {
          id: refund_id ?? newId('re'),
          payment_id,
          reference: reference ?? null,
          status,
          amount,
          currency: of.currency,
          failure_code: status === 'failed' ? 'refund_failed' : null,
          completes_at: completes_at ?? null,
        },
        how,
      );
    },
    moveRefund(id, to, how = {}) {
      const before = refund(id);
      // A bank can send a refund back that the gateway had called done; nothing else leads out of an end.
      const open = before.status === 'pending' || (before.status === 'succeeded' && to === 'failed');
      if (!open || to === before.status) throw new Refusal(409, `refund_is_${before.status}`);
      return saveRefund(
        { ...before, status: to, failure_code: to === 'failed' ? 'refund_failed' : null, completes_at: null },
        how,
      );
    },
    addPayout: (wanted) => savePayout({ id: newId('po'), ...wanted }, {}),
    movePayout(id, to, how = {}) {
      const before = payout(id);
      const open = before.status === 'pending' || (before.status === 'paid' && to === 'failed');
      if (!open || to === before.status) throw new Refusal(409, `payout_is_${before.status}`);
      return savePayout({ ...before, status: to, completes_at: null }, how);
    },
    announce(event, how) {
      if (event.id !== undefined && state.events.get(event.id)) throw new Refusal(409, 'event_exists');
      return commit([], event, how);
    },
  };
}

function known<Row>(row: Row | undefined, code: string): Row {
  if (row === undefined) throw new Refusal(404, code);
  return row;
}

import type { Bank } from './bank.ts';
import type { Later } from './later.ts';
import type { Payment, Payout, Refund, State } from './state.ts';

export interface Completions {
  payment(payment: Payment): void;
  refund(refund: Refund): void;
  payout(payout: Payout): void;
  /** Takes up what an earlier process had left open. */
  resume(): void;
}

/** What began as pending and ends well by itself at its time, unless a control decided it before. */
export function createCompletions(state: State, bank: Bank, later: Later): Completions {
  function at(time: number | null, work: () => void): void {
    if (time !== null) later.after(Math.max(0, time - Date.now()), work);
  }

  function payment({ id, completes_at }: Payment): void {
    at(completes_at, () => {
      if (state.payments.get(id)?.status === 'pending') bank.movePayment(id, 'captured');
    });
  }

  function refund({ id, completes_at }: Refund): void {
    at(completes_at, () => {
      if (state.refunds.get(id)?.status === 'pending') bank.moveRefund(id, 'succeeded');
    });
  }

  function payout({ id, completes_at }: Payout): void {
    at(completes_at, () => {
      if (state.payouts.get(id)?.status === 'pending') bank.movePayout(id, 'paid');
    });
  }

  return {
    payment,
    refund,
    payout,
    resume() {
      state.payments.all().forEach(payment);
      state.refunds.all().forEach(refund);
      state.payouts.all().forEach(payout);
    },
  };
}

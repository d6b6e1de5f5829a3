import { DEAD_LETTER_MACHINE } from './dead-letter-states.ts';
import { DISPUTE_MACHINE } from './dispute-states.ts';
import {
  CAPTURE_MACHINE,
  CHARGE_MACHINE,
  CHECKOUT_MACHINE,
  PAYOUT_MACHINE,
  TOP_UP_MACHINE,
  VOID_MACHINE,
} from './move-states.ts';
import { ORDER_MACHINE } from './order-states.ts';
import { PAYMENT_MACHINE } from './payment-states.ts';
import { REFUND_MACHINE } from './refund-states.ts';
import type { StateMachine } from './state-machine.ts';

export type MachineName =
  | 'order'
  | 'payment'
  | 'refund'
  | 'dispute'
  | 'payout'
  | 'charge'
  | 'top_up'
  | 'capture'
  | 'void'
  | 'checkout'
  | 'dead_letter';

/** Every machine of the product, by the name under which its history is kept. */
export const STATE_MACHINES: Readonly<Record<MachineName, StateMachine>> = {
  order: ORDER_MACHINE,
  payment: PAYMENT_MACHINE,
  refund: REFUND_MACHINE,
  dispute: DISPUTE_MACHINE,
  payout: PAYOUT_MACHINE,
  charge: CHARGE_MACHINE,
  top_up: TOP_UP_MACHINE,
  capture: CAPTURE_MACHINE,
  void: VOID_MACHINE,
  checkout: CHECKOUT_MACHINE,
  dead_letter: DEAD_LETTER_MACHINE,
};

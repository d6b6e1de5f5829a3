import { MOVE_STATES, MOVE_TRANSITIONS, RETURN_TRANSITIONS, type RefundStatus } from './refund-states.ts';
import type { StateMachine } from './state-machine.ts';

export const PAYOUT_MACHINE: StateMachine<RefundStatus> = {
  name: 'payout',
  about: 'Money that goes to a seller for one day.',
  states: MOVE_STATES,
  begins: ['pending'],
  finals: ['succeeded', 'failed'],
  skips: false,
  transitions: [...MOVE_TRANSITIONS, ...RETURN_TRANSITIONS],
};

function cardMachine(name: 'charge' | 'top_up', about: string): StateMachine<RefundStatus> {
  return {
    ...{ name, about, states: MOVE_STATES, begins: ['pending'], finals: ['succeeded', 'failed'], skips: false },
    transitions: [
      ...MOVE_TRANSITIONS,
      { name: 'recover', from: ['failed'], to: 'succeeded', because: 'A later success of the same payment.' },
    ],
  };
}

export const CHARGE_MACHINE = cardMachine(
  'charge',
  'A saved card that is charged for an order. It is what its payment is.',
);
export const TOP_UP_MACHINE = cardMachine(
  'top_up',
  'A saved card that is charged for a wallet. It is what its payment is.',
);

function authorizationMachine(
  name: 'capture' | 'void',
  about: string,
  further: StateMachine<RefundStatus>['transitions'],
): StateMachine<RefundStatus> {
  return {
    ...{ name, about, states: MOVE_STATES, begins: ['pending'], finals: ['succeeded', 'failed'], skips: false },
    transitions: [
      ...MOVE_TRANSITIONS,
      {
        ...{ name: 'recover', from: ['failed'], to: 'succeeded' },
        because: 'What the gateway refused came about all the same: by its own tools, or as time went by.',
      },
      ...further,
    ],
  };
}

export const CAPTURE_MACHINE = authorizationMachine(
  'capture',
  'An authorised payment that we capture. It is what its payment is.',
  [],
);
export const VOID_MACHINE = authorizationMachine(
  'void',
  'An authorised payment that we give up. It is what its payment is.',
  [{ name: 'undo', from: ['succeeded'], to: 'failed', because: 'The payment was captured after all.' }],
);

/** A payment that is prepared moves no money, so nothing of it is ever taken back. */
export const CHECKOUT_MACHINE: StateMachine<RefundStatus> = {
  name: 'checkout',
  about: 'A payment that is prepared for an order, for its customer to pay.',
  states: {
    ...MOVE_STATES,
    succeeded: 'The gateway has it, and the customer can pay.',
    failed: 'The gateway refused it.',
  },
  begins: ['pending'],
  finals: ['succeeded', 'failed'],
  skips: false,
  transitions: [
    ...MOVE_TRANSITIONS,
    { name: 'recover', from: ['failed'], to: 'succeeded', because: 'The gateway turns out to have it after all.' },
  ],
};

import type { DisputeStatus } from './event-reading.ts';
import type { StateMachine } from './state-machine.ts';

export const DISPUTE_MACHINE: StateMachine<DisputeStatus> = {
  name: 'dispute',
  about:
    "A customer contests a payment at the bank. It never changes its order's status: the order is flagged as disputed while one is open or lost.",
  states: {
    opened: 'The bank has asked; the money is withheld until it decides, unless it only inquires.',
    won: 'The money is back. An inquiry that ends, or a dispute that was prevented, is won, too.',
    lost: 'The money is gone.',
  },
  begins: ['opened'],
  finals: ['won', 'lost'],
  skips: false,
  transitions: [
    { name: 'win', from: ['opened'], to: 'won', because: 'The gateway says that the bank decided for the merchant.' },
    { name: 'lose', from: ['opened'], to: 'lost', because: 'The gateway says that the bank decided for the customer.' },
    { name: 'win_late', from: ['lost'], to: 'won', because: 'A later word of the gateway reverses the first.' },
    { name: 'lose_late', from: ['won'], to: 'lost', because: 'A later word of the gateway reverses the first.' },
  ],
};

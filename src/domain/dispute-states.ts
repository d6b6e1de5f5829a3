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
    {
      name: 'escalate',
      from: ['won'],
      to: 'opened',
      because: 'An inquiry that had ended is a dispute now: the gateway keeps the money back.',
    },
    { name: 'lose_late', from: ['won'], to: 'lost', because: 'A later word of the gateway reverses the first.' },
  ],
};

/** How a dispute stands: here, or as a look shows it. */
interface Stand {
  readonly status: DisputeStatus;
  /** Whether the gateway keeps the money back while it is open. */
  readonly withheld: boolean;
}

/**
 * Whether a look that shows a dispute open contradicts the end that is known of it. Such a look is an old one, or the gateway
 * took the end back, which nobody can tell apart; but an inquiry never withholds money, so that one which ended and withholds it
 * now became a dispute.
 */
export function contradictsEnd(known: Stand, shown: Stand): boolean {
  if (shown.status !== 'opened' || known.status === 'opened') return false;
  return known.status === 'lost' || known.withheld || !shown.withheld;
}

import { transitionBetween, type StateMachine, type StateTransition } from './state-machine.ts';

/**
 * The states of one refund (F3, E6), and of everything else that our own calls move. `unknown`: sent, and nobody knows whether
 * it happened. `needs_review`: a human decides. Both keep holding their amount.
 */
export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'unknown', 'needs_review'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** What a gateway can say about a refund. */
export type GatewayRefundStatus = 'pending' | 'succeeded' | 'failed';

/** What every move of money by our own call goes through, until it has ended (F3). */
export const MOVE_TRANSITIONS: readonly StateTransition<RefundStatus>[] = [
  { name: 'succeed', from: ['pending'], to: 'succeeded', because: 'The gateway says that it is done.' },
  {
    name: 'fail',
    from: ['pending'],
    to: 'failed',
    because: 'The gateway could not do it, or nothing is left to do.',
  },
  {
    name: 'lose_sight',
    from: ['pending', 'needs_review'],
    to: 'unknown',
    because: 'The tries are used up, and nobody knows whether it happened.',
  },
  {
    name: 'ask',
    from: ['pending', 'unknown'],
    to: 'needs_review',
    because: 'A definite no that a person must look at.',
  },
  { name: 'find', from: ['unknown'], to: 'pending', because: 'A look finds it at the gateway, under way.' },
  {
    name: 'find_done',
    from: ['unknown', 'needs_review'],
    to: 'succeeded',
    because: 'A look, or a person, finds it done at the gateway.',
  },
  {
    name: 'find_failed',
    from: ['unknown', 'needs_review'],
    to: 'failed',
    because: 'A look, or a person, finds it failed at the gateway.',
  },
  {
    name: 'retry',
    from: ['needs_review'],
    to: 'pending',
    because: 'A person orders a new attempt, or the gateway turns out to have it.',
  },
];

/** What leads out of an end. A bank can send back, days later, what the gateway called done; only a person has it done again. */
export const RETURN_TRANSITIONS: readonly StateTransition<RefundStatus>[] = [
  { name: 'return', from: ['succeeded'], to: 'failed', because: 'The bank sent the money back, days later.' },
  {
    name: 'order_anew',
    from: ['failed'],
    to: 'pending',
    because: 'A person orders a new attempt, under a new key.',
    decided: true,
  },
  {
    name: 'recover',
    from: ['failed'],
    to: 'succeeded',
    because:
      'The gateway did it after all, whoever had called it failed. Never after the bank sent it back: that is an old look.',
  },
];

/** What the states of a move mean. */
export const MOVE_STATES: Readonly<Record<RefundStatus, string>> = {
  pending: 'Reserved, sent, or taken by the gateway; not done yet.',
  succeeded: 'Done, by the word of the gateway or of a person who looked there.',
  failed: 'Not done; the money is where it was.',
  unknown: 'It may have happened: the answer never came. The machine goes on looking, and a person is asked.',
  needs_review: 'Refused; a person decides.',
};

export const REFUND_MACHINE: StateMachine<RefundStatus> = {
  name: 'refund',
  about: 'Money that goes back to a customer. It holds its amount from its reservation on, until it has failed.',
  states: MOVE_STATES,
  // One that somebody began at the gateway is first seen as it stands there; one with nothing left to refund ends at once.
  begins: ['pending', 'succeeded', 'failed'],
  finals: ['succeeded', 'failed'],
  skips: false,
  transitions: [...MOVE_TRANSITIONS, ...RETURN_TRANSITIONS],
};

/**
 * Whether the machine itself may lead a refund, or another move of money, from one status to the other; what a person orders
 * is asked for elsewhere.
 */
export function refundMayBecome(from: RefundStatus, to: RefundStatus): boolean {
  const transition = transitionBetween(REFUND_MACHINE, from, to);
  return transition !== undefined && transition.decided !== true;
}

/** Refunds in these states hold their amount: it cannot be reserved again (E6). */
export const HOLDING_REFUND_STATUSES: readonly RefundStatus[] = ['pending', 'unknown', 'needs_review', 'succeeded'];

import type { StateMachine } from './state-machine.ts';

export type DeadLetterStatus = 'open' | 'decided' | 'recovered';

export const DEAD_LETTER_MACHINE: StateMachine<DeadLetterStatus> = {
  name: 'dead_letter',
  about: 'A question to a person. The same trouble is the same row, however often it is met.',
  states: {
    open: 'Somebody must decide.',
    decided: 'Somebody has decided; who, what and why stand in the row and in its history.',
    recovered: 'It came right by itself, and nobody needs to decide.',
  },
  begins: ['open'],
  finals: ['decided', 'recovered'],
  skips: false,
  transitions: [
    { name: 'decide', from: ['open'], to: 'decided', because: 'A person decides, once.', decided: true },
    { name: 'recover', from: ['open'], to: 'recovered', because: 'What was in trouble succeeded by itself.' },
    { name: 'reopen', from: ['decided', 'recovered'], to: 'open', because: 'The same trouble is met again.' },
  ],
};

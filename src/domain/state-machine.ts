/**
 * One state machine as a table that a person can read: its states with a sentence each, and its named transitions with what
 * causes them. Everything that asks whether a change is allowed asks such a table; docs/state-machines.md is made of them.
 */
export interface StateMachine<S extends string = string> {
  /** As `state_transitions.machine` spells it. */
  readonly name: string;
  /** What it is a machine of, as a sentence. */
  readonly about: string;
  /** What each state means. */
  readonly states: Readonly<Record<S, string>>;
  /** The states that an object can begin in. */
  readonly begins: readonly S[];
  /** The states that end the work on it; what leads out of them is rare and has its own cause. */
  readonly finals: readonly S[];
  /** A look at the gateway may find that several transitions happened since the last one, and is written as one. */
  readonly skips: boolean;
  readonly transitions: readonly StateTransition<S>[];
}

export interface StateTransition<S extends string = string> {
  readonly name: string;
  readonly from: readonly S[];
  readonly to: S;
  /** What causes it, as a sentence. */
  readonly because: string;
  /** Only a person's decision leads here. */
  readonly decided?: true;
}

export function statesOf<S extends string>(machine: StateMachine<S>): readonly S[] {
  return Object.keys(machine.states) as S[];
}

/** The transition that leads from one state to the other; undefined where none does. */
export function transitionBetween<S extends string>(
  machine: StateMachine<S>,
  from: S,
  to: S,
): StateTransition<S> | undefined {
  return machine.transitions.find((transition) => transition.to === to && transition.from.includes(from));
}

/** Whether one or more named transitions lead from `from` to `to`; a state does not reach itself by standing still. */
export function reaches<S extends string>(machine: StateMachine<S>, from: S, to: S): boolean {
  const seen = new Set<S>();
  const open: S[] = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const transition of machine.transitions) {
      if (!transition.from.includes(at)) continue;
      if (transition.to === to) return true;
      if (!seen.has(transition.to)) {
        seen.add(transition.to);
        open.push(transition.to);
      }
    }
  }
  return false;
}

/**
 * Whether a step may be written into the history of an object: from nothing to where it begins, or by a named transition,
 * by several where a look may skip some. What only a person decides needs a person.
 */
export function allowsStep(machine: StateMachine, from: string | null, to: string, byPerson: boolean): boolean {
  if (from === null) return machine.begins.includes(to);
  const transition = transitionBetween(machine, from, to);
  if (transition !== undefined) return transition.decided !== true || byPerson;
  return machine.skips && reaches(machine, from, to);
}

/**
 * How long everything may take to end, in milliseconds. Each process ends by itself within its `lastResort`, wherever it runs; on
 * a laptop the stack asks the API first, everybody else in their turn, and has all of them ended within `whole`.
 */
export const SHUTDOWN_TIMES = {
  /** What a person at the terminal was promised. */
  whole: 15_000,
  api: {
    /** A request waits 5 s at most for whatever it waits for; one that has not ended by then hangs. */
    drain: 5_500,
    /** What Temporal has not taken by then is the relay's. */
    handOvers: 1_500,
    /** Leaves a second for the last counts of refusals and for connections to close. */
    lastResort: 8_000,
  },
  worker: {
    /** Steps in hand may finish; most calls to a gateway are answered by then. */
    grace: 5_000,
    /** A local activity that would go on for ever is cut off. */
    force: 7_000,
    /** Whatever hangs: the process ends, and everything goes on elsewhere. */
    lastResort: 8_000,
  },
  /** Nothing is lost with it; past this a connection that will not end is left to the system. */
  simulator: { lastResort: 1_500 },
  stack: {
    /** By how long it outwaits each of our processes: so long does one take to be gone that has ended itself. */
    patience: 500,
    /** The worker is asked when the API has ended, so that requests in hand get their answers; a slow one does not hold it up longer. */
    headStart: 2_500,
    /** Temporal's dev server and PostgreSQL take a fraction of it; both come back right when they are killed. */
    engines: 2_000,
    /** Everything that is left is killed at once. */
    killAll: 13_500,
    /** What keeps the stack itself then could only be a mistake of its own. */
    exit: 14_500,
  },
} as const;

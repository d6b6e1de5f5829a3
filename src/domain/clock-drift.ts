/**
 * How far ahead of ours a gateway's clock may be that stamps its events. A time that lies further ahead is no time: waiting until it
 * is old would take for ever.
 */
export const CLOCK_DRIFT_MS = 5 * 60_000;

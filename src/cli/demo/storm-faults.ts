import type { FaultSettings } from '../../gateways/simulator/faults.ts';

/**
 * The weather: what gateways and networks are known to do, often enough that every kind happens in a short run, and rarely
 * enough that each thing succeeds in the end. Nothing is dropped for good: a webhook that never comes is found by
 * looking for it, which is another story.
 */
export function stormFaults(seed: number): FaultSettings {
  return {
    seed,
    repeat: { chance: 0.35, times: 3 },
    reorder: { chance: 0.25, ms: [50, 1_500] },
    delay_ms: { chance: 0.5, ms: [0, 250] },
    lose_ack: { chance: 0.1 },
    slow_ms: { chance: 0.1, ms: [50, 400] },
    rate_limit: { chance: 0.05, retry_after: 1 },
    error_before: { chance: 0.05, status: 503 },
    error_after: { chance: 0.1, status: 500, calls: ['refunds.writes'] },
    lose_answer: { chance: 0.15, how: 'cut', calls: ['refunds.writes'] },
    late_work: { chance: 0.1, how: 'cut', after_ms: [300, 2_000], calls: ['refunds.writes'] },
    pending: { chance: 0.3, complete_ms: [200, 1_500], calls: ['refunds.writes'] },
  };
}

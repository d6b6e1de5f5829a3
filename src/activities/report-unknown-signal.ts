import { reportUnknownSignal as report } from '../database/report-unknown-signal.ts';
import type { Dependencies } from './dependencies.ts';

/** Puts a signal that no handler knows before a person. */
export function createReportUnknownSignal({ pool, metrics }: Pick<Dependencies, 'pool' | 'metrics'>) {
  return async function reportUnknownSignal(workflowId: string, signal: string): Promise<void> {
    await report(pool, workflowId, signal);
    metrics.deadLetters.inc({ kind: 'event_unreadable' });
  };
}

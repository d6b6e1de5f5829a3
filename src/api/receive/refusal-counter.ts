import type { Refusals } from '../../database/refusals.ts';
import type { Logger } from '../../telemetry/log.ts';

/** Counts refused deliveries (A1). Nothing a stranger sends makes it grow: its keys are our sources, our reasons and hours. */
export interface RefusalCounter {
  count(refusal: { source: string; reason: string; at: number; remoteAddress: string | null }): void;
  /** Writes what was counted; what cannot be written is kept for the next time. */
  flush(): Promise<void>;
  /** Stops writing by itself. */
  stop(): void;
}

const HOUR_MS = 3_600_000;
/** Late enough that a flood costs a row each few seconds, soon enough that a person who looks sees it. */
const FLUSH_MS = 5_000;
/** Hours that could not be written pile up while PostgreSQL is away; the oldest then go. */
const MOST_KEYS = 1_000;

export function createRefusalCounter(deps: {
  readonly save: (refusals: readonly Refusals[]) => Promise<void>;
  readonly log: Logger;
}): RefusalCounter {
  const counted = new Map<string, Refusals>();

  const add = (more: Refusals): void => {
    const key = JSON.stringify([more.source, more.reason, more.hour]);
    const before = counted.get(key);
    if (before === undefined && counted.size >= MOST_KEYS) counted.delete(counted.keys().next().value ?? '');
    counted.set(key, before === undefined ? more : { ...more, count: before.count + more.count });
  };

  const flush = async (): Promise<void> => {
    if (counted.size === 0) return;
    const batch = [...counted.values()];
    counted.clear();
    try {
      await deps.save(batch);
    } catch (error) {
      batch.forEach(add);
      deps.log.debug({ err: error }, 'refused deliveries not written yet');
    }
  };

  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();
  return {
    count({ source, reason, at, remoteAddress }) {
      const hour = Math.floor(at / HOUR_MS) * HOUR_MS;
      add({ source, reason, hour, count: 1, lastAt: at, lastRemoteAddress: remoteAddress });
    },
    flush,
    stop: () => clearInterval(timer),
  };
}

/** A loop that ends when told, after the sweep in hand. */
export interface RelayLoop {
  /** Something is there: sweep now rather than at the next poll. */
  wake(): void;
  stop(): Promise<void>;
}

export interface RelayLoopOptions {
  /** @returns whether there may be more: then it is called again at once */
  readonly sweep: () => Promise<boolean>;
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

/** After a failed sweep (PostgreSQL or Temporal away) the next one waits longer than a poll. */
const PAUSE_AFTER_ERROR_MS = 1_000;

/** Sweeps at once when woken, and at every poll in any case: whatever wakes it may be lost. */
export function startRelayLoop({ sweep, pollMs, onError }: RelayLoopOptions): RelayLoop {
  let stopped = false;
  let woken = false;
  let endPause: (() => void) | null = null;
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const run = async () => {
    while (!stopped) {
      woken = false;
      let more = false;
      let wait = pollMs;
      try {
        more = await sweep();
      } catch (error) {
        onError(error);
        wait = Math.max(pollMs, PAUSE_AFTER_ERROR_MS);
      }
      if (!more && !woken && !stopped) await pause(wait);
      endPause = null;
    }
  };
  const running = run();
  return {
    wake() {
      woken = true;
      endPause?.();
    },
    async stop() {
      stopped = true;
      endPause?.();
      await running;
    },
  };
}

export interface Later {
  after(ms: number, work: () => void): void;
  idle(): boolean;
  clear(): void;
  /** Clears, and takes nothing more. */
  close(): void;
}

/** Work that happens by itself after a while; forgotten when the process ends. */
export function createLater(): Later {
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  function clear(): void {
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }

  return {
    after(ms, work) {
      if (closed) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        work();
      }, ms);
      timers.add(timer);
    },
    idle: () => timers.size === 0,
    clear,
    close() {
      closed = true;
      clear();
    },
  };
}

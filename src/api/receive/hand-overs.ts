import type { Logger } from '../../telemetry/log.ts';

/** An event, or a fact without one, that a payment's workflow is to be woken for. */
export interface HandOver {
  readonly source: string;
  readonly paymentId: string;
  readonly orderId: string | null;
  readonly eventId: string;
}

/** Hand-overs that run beside the answers. */
export interface HandOvers {
  /** Begins one and returns at once. */
  start(handOver: HandOver): void;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

/**
 * Hands over at once what was just stored, because that is quicker than waiting for the relay; never more than that:
 * what fails, or comes while too many are under way, is swept up by the relay.
 *
 * @param most at once; beyond it Temporal is the slower one, and memory would fill with waiting ones
 */
export function createHandOvers(
  deps: { readonly handOver: (handOver: HandOver) => Promise<void>; readonly log: Logger },
  most = 64,
): HandOvers {
  const underWay = new Set<Promise<void>>();
  return {
    start(handOver) {
      if (underWay.size >= most) return;
      const one = deps.handOver(handOver).catch((error: unknown) => {
        deps.log.debug({ err: error, ...handOver }, 'not handed over at once');
      });
      underWay.add(one);
      void one.finally(() => underWay.delete(one));
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

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
 * Between two signals to one payment. Temporal gives up a step of a run to which more than 100 signals came meanwhile, and a
 * step takes up to 4 s (`QUICK`): at 200 ms that is 20 of each API process, and five of them stay within it.
 */
const APART_MS = 200;
/** Events of one payment that wait for its next signal; beyond it the relay is as quick. */
const MOST_WAITING = 1_000;

/**
 * Hands over at once what was just stored, because that is quicker than waiting for the relay; never more than that:
 * what fails, or comes while too many are under way, is swept up by the relay. Events of a payment that come while one of it
 * is on its way go together with the next signal, since a wake takes all that wait: a flood costs few of them.
 *
 * @param deps.handOver one signal for all of them, which are of one payment
 * @param most payments at once; beyond it Temporal is the slower one, and memory would fill with waiting ones
 */
export function createHandOvers(
  deps: { readonly handOver: (handOvers: readonly [HandOver, ...HandOver[]]) => Promise<void>; readonly log: Logger },
  most = 64,
): HandOvers {
  /** By payment that was signalled just now, or is being: those that wait for its next signal. */
  const recent = new Map<string, HandOver[]>();
  const underWay = new Set<Promise<void>>();
  let waiting = 0;
  const tellIdle: (() => void)[] = [];

  function send(key: string, handOvers: readonly [HandOver, ...HandOver[]]): void {
    const one = deps
      .handOver(handOvers)
      .catch((error: unknown) => {
        deps.log.debug({ err: error, ...handOvers[0] }, 'not handed over at once');
      })
      .then(() => {
        underWay.delete(one);
        setTimeout(sendWaiting, APART_MS, key).unref();
        sayIfIdle();
      });
    underWay.add(one);
  }

  function sendWaiting(key: string): void {
    const [first, ...others] = recent.get(key)?.splice(0) ?? [];
    if (first === undefined) {
      recent.delete(key);
      return;
    }
    waiting -= 1 + others.length;
    send(key, [first, ...others]);
  }

  function sayIfIdle(): void {
    if (underWay.size > 0 || waiting > 0) return;
    for (const tell of tellIdle.splice(0)) tell();
  }

  return {
    start(handOver) {
      const key = JSON.stringify([handOver.source, handOver.paymentId]);
      const behind = recent.get(key);
      if (behind === undefined) {
        if (underWay.size >= most) return;
        recent.set(key, []);
        send(key, [handOver]);
      } else if (behind.length < MOST_WAITING) {
        behind.push(handOver);
        waiting += 1;
      }
    },
    idle: () =>
      new Promise((resolve) => {
        tellIdle.push(resolve);
        sayIfIdle();
      }),
  };
}

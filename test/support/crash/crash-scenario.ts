import type { ApiAnswer } from '../api-client.ts';
import type { TestProcess } from '../processes.ts';
import type { CrashWorld } from './crash-world.ts';

/** One thing that the product does, tried with a death at every step of it. Each try has a tag of its own in all its ids. */
export interface CrashScenario {
  /** Which process dies. */
  readonly victim: 'worker' | 'server';
  /** What must be there before; done for many tries at once, and not counted. */
  prepare?(world: CrashWorld, tag: string): Promise<unknown>;
  /** Faults of the gateway while it prepares. */
  readonly faultsBefore?: object;
  /** Ids in which the tag does not stand, by which its steps are told all the same. */
  tags?(tag: string): readonly string[];
  /** What sets it off; an answer that its process did not live to give is lost. `door` is the process that may die. */
  act(world: CrashWorld, tag: string, door: TestProcess | null): Promise<ApiAnswer | void>;
  /**
   * Throws as long as the world is not as it must be, or asks again what a careful client asks again. Runs several times,
   * the last time when nothing moves any more.
   *
   * @param heard what `act` was answered
   */
  check(world: CrashWorld, tag: string, heard: ApiAnswer | null): Promise<void>;
}

import type { CrashScenario } from '../crash-scenario.ts';
import { DELIVERY_SCENARIOS } from './deliveries.ts';
import { MOVE_SCENARIOS } from './moves.ts';
import { ORDER_SCENARIOS } from './orders.ts';
import { PAYMENT_SCENARIOS } from './payments.ts';

/** All that is tried with a death at every step. A new one is one entry: who dies, what sets it off, and how it must be in the end. */
export const CRASH_SCENARIOS: Readonly<Record<string, CrashScenario>> = {
  ...PAYMENT_SCENARIOS,
  ...MOVE_SCENARIOS,
  ...ORDER_SCENARIOS,
  ...DELIVERY_SCENARIOS,
};

import type { Scenario } from './scenario.ts';

export const GATEWAY_SCENARIOS: readonly Scenario[] = [];

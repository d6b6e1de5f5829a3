import { GATEWAY_SCENARIOS } from './gateway-scenarios.ts';
import { PAYMENT_SCENARIOS } from './payment-scenarios.ts';
import { REFUND_SCENARIOS } from './refund-scenarios.ts';
import type { Scenario } from './scenario.ts';
import { SEVERAL_PAYMENTS } from './several-payments.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...PAYMENT_SCENARIOS,
  ...REFUND_SCENARIOS,
  ...SEVERAL_PAYMENTS,
  ...GATEWAY_SCENARIOS,
];

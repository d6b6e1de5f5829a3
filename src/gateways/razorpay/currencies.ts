import type { GatewayCurrencies } from '../minor-units.ts';

/**
 * How Razorpay counts money where it is not two decimal digits: only what its documentation names. Payments in other
 * currencies without two decimals are put before a human instead of being counted by a guess.
 */
export const RAZORPAY_CURRENCIES: GatewayCurrencies = {
  exponents: { JPY: 0, BHD: 3, KWD: 3, OMR: 3 },
  // Three decimals are counted, but the last one must be 0.
  steps: { BHD: 10n, KWD: 10n, OMR: 10n },
};

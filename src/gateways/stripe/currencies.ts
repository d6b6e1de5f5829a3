import type { GatewayCurrencies } from '../minor-units.ts';

/**
 * How Stripe counts money where it is not two decimal digits. ISK and UGX have no decimals in ISO 4217 and two at
 * Stripe (always 00), MGA has two in ISO 4217 and none at Stripe; so these three are converted, all others are literal.
 */
export const STRIPE_CURRENCIES: GatewayCurrencies = {
  exponents: {
    BIF: 0, CLP: 0, DJF: 0, GNF: 0, JPY: 0, KMF: 0, KRW: 0, MGA: 0, PYG: 0, RWF: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0,
    XPF: 0,
    ISK: 2, UGX: 2,
    BHD: 3, JOD: 3, KWD: 3, OMR: 3, TND: 3,
  }, // prettier-ignore
  // Three decimals are counted, but the last one must be 0.
  steps: { BHD: 10n, JOD: 10n, KWD: 10n, OMR: 10n, TND: 10n },
};

/** Payouts leave Stripe in coarser steps: no fillér and no cents of a dollar of Taiwan, though payments have them. */
export const STRIPE_PAYOUT_CURRENCIES: GatewayCurrencies = {
  exponents: STRIPE_CURRENCIES.exponents,
  steps: { ...STRIPE_CURRENCIES.steps, HUF: 100n, TWD: 100n },
};

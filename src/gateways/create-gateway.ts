import type { SourceConfig } from '../domain/source-config.ts';
import type { Gateway } from './gateway.ts';
import { createRazorpayGateway } from './razorpay/create-razorpay-gateway.ts';
import { createStandardGateway } from './standard/create-standard-gateway.ts';
import { createStripeGateway } from './stripe/create-stripe-gateway.ts';

interface GatewayOptions {
  /** How far a webhook's own timestamp may lie from the clock, either side, in milliseconds. */
  readonly toleranceMs: number;
}

/** The adapter of a configured source. Throws a plain `Error` at once where the configuration cannot work. */
export function createGateway(config: SourceConfig, options: GatewayOptions): Gateway {
  switch (config.kind) {
    case 'stripe':
      return createStripeGateway(config, options);
    case 'razorpay':
      return createRazorpayGateway(config);
    case 'standard':
      return createStandardGateway(config, options);
  }
}

/** All workflows; what the worker bundles. */
export { expireOrder } from './expire-order.ts';
export { processPayment } from './process-payment.ts';
export { refundPayment } from './refund-payment.ts';
export { startCheckout } from './start-checkout.ts';

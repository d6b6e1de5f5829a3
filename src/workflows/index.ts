/** All workflows; what the worker bundles. */
export { alertPeople } from './alert-people.ts';
export { audit } from './audit.ts';
export { capturePayment } from './capture-payment.ts';
export { chargeSavedCard } from './charge-saved-card.ts';
export { cleanUp } from './clean-up.ts';
export { deliverEvent } from './deliver-event.ts';
export { expireOrder } from './expire-order.ts';
export { findMissingWebhooks } from './find-missing-webhooks.ts';
export { payOutSeller } from './pay-out-seller.ts';
export { processPayment } from './process-payment.ts';
export { reapIdempotencyKeys } from './reap-idempotency-keys.ts';
export { reconcile } from './reconcile.ts';
export { refundPayment } from './refund-payment.ts';
export { startCheckout } from './start-checkout.ts';
export { topUpWallet } from './top-up-wallet.ts';
export { voidPayment } from './void-payment.ts';

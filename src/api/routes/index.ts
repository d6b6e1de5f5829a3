import type { Route } from '../route.ts';
import { getAudit } from './audit.ts';
import { capturePayment, getCapture, getVoid, voidPayment } from './authorizations.ts';
import { cancelOrder } from './cancel-order.ts';
import { createCharge, getCharge } from './charges.ts';
import { checkOutOrder, getCheckout } from './check-out-order.ts';
import { createOrder } from './create-order.ts';
import { listDeliveries, resendDelivery, testEndpoint } from './endpoint-deliveries.ts';
import { changeEndpoint, createEndpoint, getEndpoint, listEndpoints, rotateSecret } from './endpoints.ts';
import { getDeadLetter, listDeadLetters } from './dead-letters.ts';
import { decideDeadLetter } from './decide-dead-letter.ts';
import { getEvent, listEvents, replayEvent } from './events.ts';
import { getOrder } from './get-order.ts';
import { getHealth, getReadiness } from './health.ts';
import { getMetrics } from './metrics.ts';
import { confirmPayment, getPayment, getTimeline } from './payments.ts';
import { createPayout, getPayout } from './payouts.ts';
import { createRefund, getRefund } from './refunds.ts';
import { importOrders } from './import-orders.ts';
import { reconcile } from './reconcile.ts';
import { replayEvents } from './replay-events.ts';
import { createTopUp, getTopUp } from './top-ups.ts';
import { getWallet } from './wallets.ts';

/** Every route but that of the webhooks, which is served ahead of the framework: add yours here. */
export const ROUTES: readonly Route[] = [
  createOrder,
  getOrder,
  importOrders,
  cancelOrder,
  checkOutOrder,
  getCheckout,
  getPayment,
  getTimeline,
  confirmPayment,
  capturePayment,
  getCapture,
  voidPayment,
  getVoid,
  createRefund,
  getRefund,
  createPayout,
  getPayout,
  createCharge,
  getCharge,
  createTopUp,
  getTopUp,
  getWallet,
  createEndpoint,
  listEndpoints,
  getEndpoint,
  changeEndpoint,
  rotateSecret,
  testEndpoint,
  listDeliveries,
  resendDelivery,
  listEvents,
  getEvent,
  replayEvent,
  replayEvents,
  listDeadLetters,
  getDeadLetter,
  decideDeadLetter,
  reconcile,
  getAudit,
  getHealth,
  getReadiness,
  getMetrics,
];

import type { Route } from '../route.ts';
import { getAudit } from './audit.ts';
import { cancelOrder } from './cancel-order.ts';
import { checkOutOrder, getCheckout } from './check-out-order.ts';
import { createOrder } from './create-order.ts';
import { getDeadLetter, listDeadLetters } from './dead-letters.ts';
import { getEvent, listEvents, replayEvent } from './events.ts';
import { getOrder } from './get-order.ts';
import { getHealth, getReadiness } from './health.ts';
import { getMetrics } from './metrics.ts';
import { confirmPayment, getPayment, getTimeline } from './payments.ts';

/** Every route but that of the webhooks, which is served ahead of the framework: add yours here. */
export const ROUTES: readonly Route[] = [
  createOrder,
  getOrder,
  cancelOrder,
  checkOutOrder,
  getCheckout,
  getPayment,
  getTimeline,
  confirmPayment,
  listEvents,
  getEvent,
  replayEvent,
  listDeadLetters,
  getDeadLetter,
  getAudit,
  getHealth,
  getReadiness,
  getMetrics,
];

import { createAuditDatabase } from './audit-database.ts';
import { createCleanUp } from './clean-up.ts';
import { createDecide } from './decide.ts';
import type { Dependencies } from './dependencies.ts';
import { createDeliver } from './deliver.ts';
import { createExecuteAuthorizationMove } from './execute-authorization-move.ts';
import { createExecuteCardPayment } from './execute-card-payment.ts';
import { createExecutePayout } from './execute-payout.ts';
import { createExecuteRefund } from './execute-refund.ts';
import { createExpireOrder } from './expire-order.ts';
import { createFindMissingWebhooks } from './find-missing-webhooks.ts';
import { createLookAtAuthorizationMove } from './look-at-authorization-move.ts';
import { createLookAtCardPayment } from './look-at-card-payment.ts';
import { createLookAtPayout } from './look-at-payout.ts';
import { createLookAtRefund } from './look-at-refund.ts';
import { createLoseDelivery } from './lose-delivery.ts';
import { createLoseSightOfCheckout } from './lose-sight-of-checkout.ts';
import { createLoseSightOfMove } from './lose-sight-of-move.ts';
import { createPlanDeliveries } from './plan-deliveries.ts';
import { createPrepareCheckout } from './prepare-checkout.ts';
import { createReconcileRuns } from './reconcile-runs.ts';
import { createReapIdempotencyKeys } from './reap-idempotency-keys.ts';
import { createReportUnknownSignal } from './report-unknown-signal.ts';
import { createSendAlerts } from './send-alerts.ts';
import { createSettlePayment } from './settle-payment.ts';

/** All activities, bound to what they work with. Each is safe to run twice. */
export function createActivities(deps: Dependencies) {
  return {
    settlePayment: createSettlePayment(deps),
    decide: createDecide(deps),
    reportUnknownSignal: createReportUnknownSignal(deps),
    lookAtRefund: createLookAtRefund(deps),
    lookAtPayout: createLookAtPayout(deps),
    lookAtCardPayment: createLookAtCardPayment(deps),
    lookAtAuthorizationMove: createLookAtAuthorizationMove(deps),
    loseSightOfMove: createLoseSightOfMove(deps),
    expireOrder: createExpireOrder(deps),
    loseSightOfCheckout: createLoseSightOfCheckout(deps),
    sendAlerts: createSendAlerts(deps),
    planDeliveries: createPlanDeliveries(deps),
    loseDelivery: createLoseDelivery(deps),
    reapIdempotencyKeys: createReapIdempotencyKeys(deps),
    reconcileRuns: createReconcileRuns(deps),
    findMissingWebhooks: createFindMissingWebhooks(deps),
    auditDatabase: createAuditDatabase(deps),
    cleanUp: createCleanUp(deps),
  };
}

/** Calls that move money; they run on a task queue of their own. */
export function createMoneyActivities(deps: Dependencies) {
  return {
    executeRefund: createExecuteRefund(deps),
    executePayout: createExecutePayout(deps),
    executeCardPayment: createExecuteCardPayment(deps),
    executeAuthorizationMove: createExecuteAuthorizationMove(deps),
    prepareCheckout: createPrepareCheckout(deps),
  };
}

/** Calls to other services; on a task queue of their own, likewise. */
export function createDeliveryActivities(deps: Dependencies) {
  return { deliver: createDeliver(deps) };
}

export type Activities = ReturnType<typeof createActivities>;
export type MoneyActivities = ReturnType<typeof createMoneyActivities>;
export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

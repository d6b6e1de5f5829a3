import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { claimDelivery } from '../database/claim-delivery.ts';
import type { DeliveryKey, DeliveryState } from '../database/delivery-key.ts';
import { recordDelivered, releaseDelivery, skipDelivery } from '../database/finish-delivery.ts';
import { readAnnouncedEvent, readAnnouncedOrder } from '../database/read-announced-event.ts';
import { DatabaseUnavailable } from '../database/postgres-errors.ts';
import type { Consumer, DeliveryResult } from '../notify/consumer.ts';
import { DeliveryError } from '../notify/delivery-error.ts';
import { deliveryMessage, toDeliveryFailure } from './delivery-failure.ts';
import type { Dependencies } from './dependencies.ts';
import { UNKNOWN_CONSUMER } from './plan-deliveries.ts';

/** Past an attempt's own time, for its record; less than the activity's time leaves, so that a next attempt finds it over. */
const RECORD_MS = 5_000;

const SHUT_DOWN = 'The worker was shut down.';

/**
 * One attempt to tell one consumer's target of one event (G3): claims the delivery with a lease, acts with no transaction
 * open, records. Killed between, the next attempt acts again under the same id; one that finds it done acts no more.
 */
export function createDeliver(deps: Dependencies) {
  return async function deliver(outboxId: string, name: string, target: string): Promise<DeliveryState> {
    const consumer = deps.consumers.find((one) => one.name === name);
    const key = { outboxId, consumer: name, target };
    try {
      if (consumer === undefined) throw new DeliveryError(`This worker has no consumer ${name}.`);
      return await attempt(deps, consumer, key);
    } catch (error) {
      // A worker that is shut down: the attempt did not fail, and goes on elsewhere.
      if (cancellationSignal().aborted) throw new CancelledFailure(SHUT_DOWN);
      if (!(error instanceof DeliveryError) && !(error instanceof DatabaseUnavailable)) {
        deps.log.error({ err: error, consumer: name, target, outbox_id: outboxId }, 'delivery failed unexpectedly');
      }
      const retry = consumer?.retry ?? UNKNOWN_CONSUMER;
      throw toDeliveryFailure(error, { retry, attempt: activityInfo().attempt, random: Math.random() });
    }
  };
}

async function attempt(deps: Dependencies, consumer: Consumer, key: DeliveryKey): Promise<DeliveryState> {
  const { pool, metrics } = deps;
  const claim = await claimDelivery(pool, key, consumer.retry.timeoutMs + RECORD_MS);
  if (claim.result === 'over') return claim.state;
  if (claim.result === 'leased') {
    throw new DeliveryError('Another attempt is under way, or died under way.', { retryAfterMs: claim.forMs + 1 });
  }
  let result: DeliveryResult;
  try {
    result = await act(deps, consumer, key);
  } catch (error) {
    const httpStatus = error instanceof DeliveryError ? error.httpStatus : null;
    const message = cancellationSignal().aborted ? SHUT_DOWN : deliveryMessage(error);
    if (message !== SHUT_DOWN) metrics.deliveries.inc({ consumer: consumer.name, result: 'failed' });
    await releaseDelivery(pool, key, claim.attempt, { message, httpStatus });
    throw error;
  }
  metrics.deliveries.inc({ consumer: consumer.name, result: result.status });
  return result.status === 'done'
    ? recordDelivered(pool, key, result.httpStatus ?? null)
    : skipDelivery(pool, key, result.reason);
}

async function act({ pool }: Dependencies, consumer: Consumer, key: DeliveryKey): Promise<DeliveryResult> {
  const event = await readAnnouncedEvent(pool, key.outboxId);
  if (event === null) throw new DeliveryError(`There is no event outbox:${key.outboxId} any more.`, { final: true });
  const order = await readAnnouncedOrder(pool, event);
  const { timeoutMs } = consumer.retry;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([timeout, cancellationSignal()]);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new DeliveryError(`It took longer than ${timeoutMs} ms.`)), {
      once: true,
    });
  });
  // A consumer that does not heed the signal is left behind, and its attempt is over.
  return Promise.race([consumer.deliver({ event, target: key.target, order, signal }), late]);
}

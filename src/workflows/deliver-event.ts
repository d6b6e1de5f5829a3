import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  rootCause,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/index.ts';
import type { PlannedDelivery } from '../activities/plan-deliveries.ts';
import { deliveryKey, parseOutboxEventId } from '../domain/keys.ts';
import { handleDecisions } from './handle-decisions.ts';
import { deliveryChangedSignal, deliveryStateQuery, type DeliveryStateAnswer } from './messages.ts';
import { quickly } from './quickly.ts';
import { deliveryOptions } from './retry.ts';
import { createTellPeople } from './tell-people.ts';

/**
 * Tells everybody who wants to know of one announced event, each on its own: one that fails holds up nobody. A delivery
 * whose tries are used up waits for a person while the others go on. Nobody's cancellation stops it: the events are owed.
 */
export function deliverEvent(): Promise<DeliveryStateAnswer> {
  return CancellationScope.nonCancellable(run);
}

type Delivery = Pick<PlannedDelivery, 'consumer' | 'target' | 'status' | 'attempts'>;

async function run(): Promise<DeliveryStateAnswer> {
  const { workflowId } = workflowInfo();
  const outboxId = parseOutboxEventId(workflowId);
  if (outboxId === null) {
    throw ApplicationFailure.nonRetryable(
      `The id of this run, ${workflowId}, is not outbox:{id}: start it by that id.`,
    );
  }
  const deliveries = new Map<string, Delivery>();
  const underWay = new Set<string>();
  const askedAgain = new Set<string>();
  let eventType: string | null = null;
  let orderId: string | null = null;
  let changes = 1;
  let finished = 0;
  let answersInHand = false;
  const tellPeople = createTellPeople();
  const state = (): DeliveryStateAnswer => ({
    event_type: eventType,
    deliveries: [...deliveries.values()].map(({ consumer, target, status, attempts }) => ({
      ...{ consumer, target, status, attempts },
    })),
  });
  setHandler(deliveryChangedSignal, () => {
    changes += 1;
  });
  setHandler(deliveryStateQuery, state);
  handleDecisions(() => {
    changes += 1;
    answersInHand = true;
  });

  for (;;) {
    if (changes > 0) {
      changes = 0;
      await takeUp(outboxId);
      continue;
    }
    const all = [...deliveries.values()];
    const dead = all.filter(({ status }) => status === 'dead');
    tellPeople({
      status: dead.length > 0 ? 'needs_review' : underWay.size > 0 ? 'in_progress' : 'done',
      orderId,
      needsHuman: dead.length > 0,
      details: details(eventType ?? 'event', all),
    });
    if (underWay.size > 0 || dead.length > 0) {
      if (underWay.size === 0 && workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        if (changes === 0) await continueAsNew<typeof deliverEvent>();
      }
      const seen = finished;
      await condition(() => changes > 0 || finished > seen);
      continue;
    }
    await condition(allHandlersFinished);
    if (changes > 0) continue;
    if (!answersInHand) return state();
    // A signal at the instant of completion fails the task, and with it the answers that it carries: they leave first.
    answersInHand = false;
    await sleep(1);
  }

  /** Reads where everything stands, and begins what is open and not under way. */
  async function takeUp(id: string): Promise<void> {
    const plan = await quickly((activities) => activities.planDeliveries(id));
    if (plan === null) throw ApplicationFailure.nonRetryable(`There is no event ${workflowId}.`);
    ({ eventType, orderId } = plan);
    for (const delivery of plan.deliveries) {
      const key = deliveryKey(delivery.consumer, delivery.target);
      if (underWay.has(key)) {
        // Its end may have been read before it was asked for again.
        askedAgain.add(key);
        continue;
      }
      deliveries.set(key, delivery);
      if (delivery.status === 'in_progress') void deliverOne(id, key, delivery);
    }
  }

  async function deliverOne(id: string, key: string, { consumer, target, retry }: PlannedDelivery): Promise<void> {
    underWay.add(key);
    const { deliver } = proxyActivities<DeliveryActivities>(deliveryOptions(retry));
    let reached;
    try {
      reached = await deliver(id, consumer, target);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      const message = rootCause(error) ?? error.message;
      reached = await quickly((activities) => activities.loseDelivery(id, consumer, target, message));
    }
    deliveries.set(key, { consumer, target, ...reached });
    underWay.delete(key);
    if (askedAgain.delete(key) || reached.status === 'in_progress') changes += 1;
    finished += 1;
  }
}

function details(eventType: string, deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return `${eventType}: nobody is to be told.`;
  const names = deliveries.map(
    ({ consumer, target, status }) => `${target === '-' ? consumer : `${consumer} ${target}`}: ${status}`,
  );
  const human = deliveries.some(({ status }) => status === 'dead')
    ? ' **A person must decide: see the dead letters.**'
    : '';
  return `${eventType}: ${names.join(', ')}.${human}`;
}

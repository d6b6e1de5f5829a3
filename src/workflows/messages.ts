import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { QueryDefinition, SignalDefinition } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { DeadLetterChoice } from '../domain/dead-letter-choices.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { PaymentStatus } from '../domain/payment-states.ts';
import type { RefundStatus } from '../domain/refund-states.ts';

/**
 * The contract of the workflows: names, queues, messages. Others import this and nothing else of `workflows/`.
 * A workflow takes no input: its id is the business key (src/domain/keys.ts), and everything else is read from
 * PostgreSQL. So whoever starts it, with whatever it knows, starts the same thing.
 */
export const TASK_QUEUE = 'paidonce';
/** Calls that move money, apart so that a silent gateway holds up nothing else. */
export const GATEWAY_TASK_QUEUE = 'paidonce-gateway';
/** Deliveries to other services, apart for the same reason. */
export const DELIVERY_TASK_QUEUE = 'paidonce-delivery';

/** What runs are searched by in the Temporal UI (H3). Ids only: they are plain text even where payloads are encrypted. */
export const PAIDONCE_ORDER_ID = defineSearchAttributeKey('PaidonceOrderId', SearchAttributeType.KEYWORD);
export const PAIDONCE_PAYMENT_ID = defineSearchAttributeKey('PaidoncePaymentId', SearchAttributeType.KEYWORD);
export const PAIDONCE_SOURCE = defineSearchAttributeKey('PaidonceSource', SearchAttributeType.KEYWORD);
export const PAIDONCE_STATUS = defineSearchAttributeKey('PaidonceStatus', SearchAttributeType.KEYWORD);
export const PAIDONCE_NEEDS_HUMAN = defineSearchAttributeKey('PaidonceNeedsHuman', SearchAttributeType.BOOL);

/** Something changed about this payment; the event's id is only a hint, PostgreSQL knows all that wait. */
export const paymentEventSignal = defineSignal<[eventId: string]>('paymentEvent');
/** The customer's browser came back: look now, and say what became of this call (B4). */
export const confirmPaymentUpdate = defineUpdate<ConfirmPaymentResult, []>('confirmPayment');
/** A person's decision about what this workflow waits for, sent by another service; recorded exactly as the HTTP API does. */
export const decideUpdate = defineUpdate<DecideResult, [DecideInput]>('decide');
export const paymentStateQuery = defineQuery<PaymentState>('paymentState');

/** What a workflow that moves money listens to. */
export interface MoneyMessages {
  /** The gateway, or a person, changed something about it: look again. */
  readonly changed: SignalDefinition<[]>;
  readonly state: QueryDefinition<MoneyState>;
}

function moneyMessages(kind: 'refund' | 'payout' | 'charge' | 'topUp' | 'capture' | 'void'): MoneyMessages {
  return { changed: defineSignal<[]>(`${kind}Changed`), state: defineQuery<MoneyState>(`${kind}State`) };
}

export const refundMessages = moneyMessages('refund');
export const payoutMessages = moneyMessages('payout');
export const chargeMessages = moneyMessages('charge');
export const topUpMessages = moneyMessages('topUp');
export const captureMessages = moneyMessages('capture');
export const voidMessages = moneyMessages('void');

/** Something was raised, or is over: look what is to be said. */
export const alertsChangedSignal = defineSignal<[]>('alertsChanged');
/** Somebody has decided about a delivery, or asked for it again: read what stands in PostgreSQL. */
export const deliveryChangedSignal = defineSignal<[]>('deliveryChanged');
export const deliveryStateQuery = defineQuery<DeliveryStateAnswer>('deliveryState');

export const checkoutStateQuery = defineQuery<CheckoutState>('checkoutState');

export interface DecideInput {
  readonly action: DeadLetterChoice;
  /** Why. */
  readonly note: string;
  /** Who decided. */
  readonly by: string;
  /** With `resolve`: what was seen at the gateway. */
  readonly outcome?: 'succeeded' | 'failed';
  readonly gateway_id?: string;
  /** Which one, where several are open. */
  readonly dead_letter_id?: string;
}

export interface DecideResult {
  readonly result: 'decided' | 'not_found' | 'already_decided' | 'not_possible';
  readonly reason?: string;
}

export interface ConfirmPaymentResult {
  readonly outcome: PaymentOutcome;
}

/** Field names are those of the HTTP API: other services read this by query. */
export interface PaymentState {
  readonly status: PaymentStatus | null;
  readonly outcome: PaymentOutcome | null;
  readonly order_id: string | null;
  readonly pending_events: number;
  readonly waiting_for: 'order' | 'gateway' | null;
}

export interface MoneyState {
  readonly status: RefundStatus | null;
  /** Minor units, as decimal text. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** `gateway_refund_id`, `gateway_payout_id`, …: the gateway's object. */
  readonly [gatewayId: `gateway_${string}_id`]: string | null;
  readonly waiting_for: 'gateway' | 'human' | null;
}

export interface CheckoutState {
  readonly status: 'pending' | 'succeeded' | 'failed' | 'unknown' | 'needs_review';
  readonly payment_id: string | null;
}

/** How far an announced event has come; attempts as of the last time that the run looked. */
export interface DeliveryStateAnswer {
  readonly event_type: string | null;
  readonly deliveries: readonly {
    readonly consumer: string;
    readonly target: string;
    readonly status: 'in_progress' | 'done' | 'skipped' | 'dead';
    readonly attempts: number;
  }[];
}

/** The relay starts these by the outbox row's type; the workflow's id comes from the row's aggregate. */
export type WorkflowName =
  | 'processPayment'
  | 'refundPayment'
  | 'payOutSeller'
  | 'chargeSavedCard'
  | 'topUpWallet'
  | 'capturePayment'
  | 'voidPayment'
  | 'startCheckout'
  | 'expireOrder'
  | 'alertPeople'
  | 'deliverEvent';

/** Started by a schedule: of the same name in kebab-case, and of the source's where there is one for each. */
export type ScheduledWorkflowName = 'reapIdempotencyKeys' | 'cleanUp' | 'reconcile' | 'findMissingWebhooks' | 'audit';

/** What a reconciliation of runs came to. */
export interface Reconciliation {
  /** How much of the source's work is not over. */
  readonly checked: number;
  /** How many runs of it were gone. */
  readonly restarted: number;
  /** Their ids; the first hundred of them. */
  readonly examples: readonly string[];
}

/** What a search for webhooks that never came has found. */
export interface MissingWebhooks {
  /** How many entries the gateway listed, those that are listed anew each time among them. */
  readonly listed: number;
  /** How many of them had never come. */
  readonly found: number;
  /** How many were so young that their webhooks may be on their way. */
  readonly left: number;
  /** The ids of those that were found; the first hundred of them. */
  readonly examples: readonly string[];
  /** The list goes on; the next run does, too. */
  readonly unfinished: boolean;
  /** Why the gateway gave no list, in a sentence for the operator. */
  readonly problem: string | null;
}

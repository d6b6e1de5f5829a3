import {
  type CardPayment,
  type CardPaymentKind,
  readCardPayment,
  recordPlacedCardPayment,
} from '../database/card-payment.ts';
import { claimCardSend } from '../database/claim-card-send.ts';
import { giveUpMove } from '../database/give-up-move.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { PaymentFacts } from '../domain/gateway-facts.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { mayBeSent, readProgress, type MoneyProgress } from './money-progress.ts';
import { pickCounting } from './pick-counting.ts';
import { sourceOf } from './source-of.ts';

const NOT_PAYABLE = {
  code: 'order_not_payable',
  message:
    'The order was paid, cancelled or expired, or takes less by now, before its card was charged: nothing was sent.',
};

/**
 * One attempt to charge a saved card, for an order or for a wallet: looks first, sends only what is surely absent. What the
 * payment came to is not decided here but by the payment's own workflow, exactly as for a webhook.
 */
export function createExecuteCardPayment(deps: Dependencies) {
  return async function executeCardPayment(kind: CardPaymentKind, id: string): Promise<MoneyProgress> {
    const card = await readCardPayment(deps.pool, kind, id);
    if (card === null) throw new Error(`There is no ${kind} ${id}.`);
    const before = await readProgress(deps.pool, kind, id);
    if (!mayBeSent(before)) return before;
    const { source, reference } = card;
    const { gateway } = sourceOf(deps, source);
    const sent = await lookThenCreate<PaymentFacts>(deps, gateway, {
      reference,
      find: async () => {
        const found = pickCounting(await gateway.findCharges(reference, card.customerId, card.createdAt));
        if (found !== null && !isWhatWasAsked(found, card)) throw notWhatWasAsked(found, card);
        return found;
      },
      create: async (idempotencyKey, at) =>
        (await claimCardSend(deps.pool, card, at)) ? gateway.chargeSavedCard({ ...card, idempotencyKey }) : null,
    });
    if (sent.result === 'done') await recordPlacedCardPayment(deps.pool, kind, card, sent.found.paymentId);
    if (sent.result === 'withdrawn') await giveUpMove(deps.pool, { kind, id }, 'declined', NOT_PAYABLE);
    if (sent.result === 'rejected') {
      // A declined card is an answer to the customer; a mistake of ours is for a human.
      const end = sent.error.ourFault ? 'rejected' : 'declined';
      await giveUpMove(deps.pool, { kind, id }, end, sent.error);
    }
    return readProgress(deps.pool, kind, id);
  };
}

/** Another order would be paid by this customer's card, or this one by other money. */
function isWhatWasAsked(found: PaymentFacts, card: CardPayment): boolean {
  const another = found.orderId !== null && card.orderId !== null && found.orderId !== card.orderId;
  const otherMoney =
    (found.amount !== null && found.amount !== card.amount) ||
    (found.currency !== null && found.currency !== card.currency);
  return !another && !otherMoney;
}

/** Neither "found" nor "absent" would be true of it: it is looked for again, and in the end a person sees what it is. */
function notWhatWasAsked({ paymentId }: PaymentFacts, { source, reference }: CardPayment): GatewayError {
  return new GatewayError(
    `${source} shows ${paymentId} under ${reference}, for another order or another amount than was asked for: see there what it is.`,
    { kind: 'temporary', code: 'unexpected_answer' },
  );
}

import { readCardPayment, recordPlacedCardPayment, type CardPaymentKind } from '../database/card-payment.ts';
import { noteSending } from '../database/gateway-call.ts';
import { giveUpMove } from '../database/give-up-move.ts';
import type { PaymentFacts } from '../domain/gateway-facts.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { mayBeSent, readProgress, type MoneyProgress } from './money-progress.ts';
import { pickCounting } from './pick-counting.ts';
import { sourceOf } from './source-of.ts';

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
      find: async () => pickCounting(await gateway.findCharges(reference, card.customerId, card.createdAt)),
      create: async (idempotencyKey, at) => {
        await noteSending(deps.pool, { source, reference, at });
        return gateway.chargeSavedCard({ ...card, idempotencyKey });
      },
    });
    if (sent.result === 'done') await recordPlacedCardPayment(deps.pool, kind, card, sent.found.paymentId);
    if (sent.result === 'rejected') {
      // A declined card is an answer to the customer; a mistake of ours is for a human.
      const end = sent.error.ourFault ? 'rejected' : 'declined';
      await giveUpMove(deps.pool, { kind, id }, end, sent.error);
    }
    return readProgress(deps.pool, kind, id);
  };
}

import { readCardPayment, recordPlacedCardPayment, type CardPaymentKind } from '../database/card-payment.ts';
import { noteSending } from '../database/gateway-call.ts';
import { giveUpMove } from '../database/give-up-move.ts';
import { readMoneyMove } from '../database/money-move.ts';
import type { PaymentFacts } from '../domain/gateway-facts.ts';
import { gatewayCallKey } from '../domain/keys.ts';
import type { Dependencies } from './dependencies.ts';
import { lookThenCreate } from './look-then-create.ts';
import { readProgress, type MoneyProgress } from './money-progress.ts';
import { settleTime } from './settle-time.ts';
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
    // A person has told the machine to stop: nothing is sent any more.
    if (before.givenUp) return before;
    const { source, reference, status } = card;
    if ((status !== 'pending' && status !== 'unknown') || card.paymentId !== null) return before;
    const { gateway } = sourceOf(deps, source);
    const sent = await lookThenCreate<PaymentFacts>(deps, settleTime(gateway, deps.policies), {
      source,
      reference,
      find: async () => pickPayment(await gateway.findCharges(reference, card.customerId, card.createdAt)),
      create: async (attempt, at) => {
        await noteSending(deps.pool, { source, reference, at });
        return gateway.chargeSavedCard({ ...card, idempotencyKey: gatewayCallKey(reference, attempt) });
      },
    });
    if (sent.result === 'done') await recordPlacedCardPayment(deps.pool, kind, card, sent.found.paymentId);
    if (sent.result === 'rejected') {
      const move = await readMoneyMove(deps.pool, kind, id);
      const { code, message, ourFault } = sent.error;
      // A declined card is an answer to the customer; a mistake of ours is for a human.
      if (move !== null) await giveUpMove(deps.pool, move, ourFault ? 'rejected' : 'declined', { code, message });
    }
    return readProgress(deps.pool, kind, id);
  };
}

function pickPayment(found: readonly PaymentFacts[]): PaymentFacts | null {
  const alive = found.find((payment) => payment.status !== 'failed' && payment.status !== 'expired');
  return alive ?? found[0] ?? null;
}

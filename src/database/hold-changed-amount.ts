import { capturedAnew, changedAmountQuestion } from '../domain/changed-amount.ts';
import { deadLetterId } from '../domain/keys.ts';
import type { Money } from '../domain/money.ts';
import type { PaymentStep } from './apply-facts.ts';
import { openDeadLetter, recoverDeadLetters } from './open-dead-letter.ts';
import type { Tx } from './pool.ts';

/**
 * Puts a captured payment before a person whose amount or currency the gateway shows otherwise than it was decided (B5): nothing of it is
 * counted or given back by itself. It closes when the gateway shows again what was decided, and a person who gave it up is not asked
 * about the same amount again.
 *
 * @returns why the events about the payment are held; null where nothing is in doubt
 */
export async function holdChangedAmount(
  tx: Tx,
  { input, facts, orderId, sorted, known }: PaymentStep,
): Promise<string | null> {
  const { source, paymentId } = input;
  const money = capturedAnew(known, facts);
  if (money === null) return null;
  const id = deadLetterId('event_unreadable', source, paymentId);
  if (!money.changed) {
    await recoverDeadLetters(tx, [id]);
    return null;
  }
  if (await isGivenUp(tx, id, money.shown)) return null;
  const lastError = changedAmountQuestion(money.decided, money.shown);
  await openDeadLetter(tx, {
    ...{ id, kind: 'event_unreadable', source, paymentId, orderId, lastError, ...money.shown },
    eventId: sorted.settled.find((event) => event.subject === 'payment')?.eventId ?? null,
  });
  return lastError;
}

async function isGivenUp(tx: Tx, id: string, shown: Money): Promise<boolean> {
  const { rows } = await tx.query(
    `select from dead_letters
     where id = $1 and status = 'decided' and decision->>'action' = 'give_up' and amount = $2 and currency = $3`,
    [id, shown.amount, shown.currency],
  );
  return rows.length > 0;
}

import type { PoolClient } from 'pg';
import { isByPerson } from '../domain/by-person.ts';
import { allowsStep } from '../domain/state-machine.ts';
import { STATE_MACHINES, type MachineName } from '../domain/state-machines.ts';

export interface Transition {
  readonly machine: MachineName;
  readonly objectId: string;
  readonly from: string | null;
  readonly to: string;
  /** What made it happen: an event, a caller, a look, a person. */
  readonly cause: string;
  readonly detail?: string;
  readonly orderId?: string | null;
  readonly source?: string | null;
  readonly paymentId?: string | null;
}

/**
 * Writes one named transition into the history that people read and that gates facts without an event (C1).
 *
 * @throws Error where its machine's table has no such transition: nothing of the transaction may stay
 */
export async function recordTransition(tx: PoolClient, t: Transition): Promise<void> {
  if (!allowsStep(STATE_MACHINES[t.machine], t.from, t.to, isByPerson(t.cause))) {
    throw new Error(`A ${t.machine} never goes from ${t.from ?? 'nothing'} to ${t.to}: ${t.objectId}, by ${t.cause}.`);
  }
  await tx.query(
    `insert into state_transitions (machine, object_id, from_status, to_status, cause, detail, order_id, source, payment_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      t.machine,
      t.objectId,
      t.from,
      t.to,
      t.cause,
      t.detail ?? null,
      t.orderId ?? null,
      t.source ?? null,
      t.paymentId ?? null,
    ],
  );
}

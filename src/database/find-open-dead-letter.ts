import { parsePaymentWorkflowId } from '../domain/keys.ts';
import type { Db } from './pool.ts';

/** The oldest open dead letter that a workflow, or its payment, waits for; null where there is none. */
export async function findOpenDeadLetter(db: Db, workflowId: string): Promise<string | null> {
  const payment = parsePaymentWorkflowId(workflowId);
  const { rows } = await db.query<{ id: string }>(
    `select id from dead_letters
     where status = 'open' and (workflow_id = $1 or ($2::text is not null and source = $2 and payment_id = $3 and workflow_id is null))
     order by since, id limit 1`,
    [workflowId, payment?.source ?? null, payment?.paymentId ?? null],
  );
  return rows[0]?.id ?? null;
}

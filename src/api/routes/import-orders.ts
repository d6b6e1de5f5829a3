import type { z } from 'zod';
import { importOrder, type ImportResult } from '../../database/import-order.ts';
import { pathText } from '../../domain/path-text.ts';
import { Problem } from '../../domain/problem.ts';
import type { ApiDeps } from '../deps.ts';
import { defineRoute, json } from '../route.ts';
import { importReport, importRequest, type orderToImport } from '../schemas/order.ts';

type Order = z.output<typeof orderToImport>;

/** A few at once keep the database busy, and leave connections to everybody else. */
const AT_ONCE = 4;

export const importOrders = defineRoute({
  method: 'POST',
  path: '/v1/orders/import',
  scope: 'ops:write',
  summary: 'Write orders that were paid before this system ran, without any consequence; harmless however often.',
  body: importRequest,
  answers: { 200: { description: 'What became of each.', schema: importReport } },
  async handle(deps, { body, client }) {
    refuseUnknownSources(deps, body.orders);
    const options = { by: client, dryRun: body.dry_run === true };
    const results: ImportResult[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < body.orders.length; at = next++) {
        const order = body.orders[at];
        if (order !== undefined) results[at] = await importOrder(deps.pool, toImport(order), options);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (results.some((one) => one.result === 'imported' && one.woken.length > 0)) deps.wakeRelays();
    const count = (result: ImportResult['result']) => results.filter((one) => one.result === result).length;
    const refused = results.flatMap((one, index) =>
      one.result === 'refused' ? [{ index, id: body.orders[index]?.id, reason: one.reason }] : [],
    );
    return json(200, { imported: count('imported'), unchanged: count('unchanged'), refused });
  },
});

function refuseUnknownSources({ sources }: ApiDeps, orders: readonly Order[]): void {
  const errors = orders.flatMap(({ source }, at) =>
    sources.has(source)
      ? []
      : [{ path: pathText(['orders', at, 'source']), message: 'is not the name of a configured source' }],
  );
  if (errors.length > 0) throw new Problem('validation_failed', 'Some sources are not configured.', { errors });
}

function toImport(order: Order) {
  const { id, currency, source } = order;
  return {
    ...{ id, currency, source, amount: BigInt(order.amount), paymentId: order.payment_id, paidAt: order.paid_at },
    customer: { id: order.customer_id, email: order.customer_email ?? null, name: order.customer_name ?? null },
    amountRefunded: BigInt(order.amount_refunded ?? 0),
  };
}

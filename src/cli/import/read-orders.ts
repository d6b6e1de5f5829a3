import type { z } from 'zod';
import { orderToImport } from '../../api/schemas/order.ts';
import { checkRows } from '../file/check-rows.ts';
import { BadFile, readRows, type FileShape } from '../file/read-rows.ts';

/** An order as the API takes it, with where it stands in the file. */
export interface OrderOfFile {
  readonly place: string;
  readonly order: z.input<typeof orderToImport>;
}

const SHAPE: FileShape = {
  what: 'order',
  required: ['id', 'currency', 'amount', 'customer_id', 'source', 'payment_id', 'paid_at'],
  optional: ['customer_email', 'customer_name', 'amount_refunded'],
  numbers: ['amount', 'amount_refunded'],
};

/**
 * Reads the orders of a file.
 *
 * @param name decides by its ending how the text is read
 * @throws BadFile with all mistakes at once
 */
export function readOrders(text: string, name: string): OrderOfFile[] {
  const { entries, mistakes } = checkRows(readRows(text, name, SHAPE), orderToImport, [
    {
      of: (fields) => JSON.stringify(fields['id'] ?? null),
      says: (earlier) => `id is that of ${earlier}`,
    },
    {
      of: (fields) => JSON.stringify([fields['source'], fields['payment_id']]),
      says: (earlier) => `payment_id is that of ${earlier}; a payment pays one order`,
    },
  ]);
  if (mistakes.length > 0) throw new BadFile(mistakes);
  return entries.map(({ place, entry }) => ({ place, order: entry }));
}

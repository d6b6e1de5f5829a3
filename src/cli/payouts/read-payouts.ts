import { newPayout } from '../../api/schemas/money.ts';
import { checkRows } from '../file/check-rows.ts';
import { BadFile, readRows, type FileShape } from '../file/read-rows.ts';

/** One payout as the API takes it. */
export interface PayoutToMake {
  readonly source: string;
  readonly seller_id: string;
  /** YYYY-MM-DD */
  readonly settlement_date: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly destination: string;
}

const SHAPE: FileShape = {
  what: 'payout',
  required: ['seller_id', 'amount', 'currency', 'destination'],
  numbers: ['amount'],
};

/**
 * Reads the payouts of a day from CSV with a header line, or from a JSON list of objects; the fields are seller_id, amount (minor
 * units), currency and destination.
 *
 * @param name decides by its ending how the text is read
 * @throws BadFile with all mistakes at once
 */
export function readPayouts(
  text: string,
  name: string,
  run: { readonly source: string; readonly date: string },
): PayoutToMake[] {
  const rows = readRows(text, name, SHAPE).map(({ place, fields }) => ({
    place,
    fields: { ...fields, source: run.source, settlement_date: run.date },
  }));
  const { entries, mistakes } = checkRows(rows, newPayout, [
    {
      of: (fields) => JSON.stringify(fields['seller_id'] ?? null),
      says: (earlier) => `seller_id is that of ${earlier}; a seller has one payout a day`,
    },
  ]);
  if (mistakes.length > 0) throw new BadFile(mistakes);
  return entries.map(({ entry }) => entry);
}

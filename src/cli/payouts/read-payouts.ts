import { validated } from '../../api/mistakes.ts';
import { parseJsonBody } from '../../api/parse-json-body.ts';
import { newPayout } from '../../api/schemas/money.ts';
import { Problem } from '../../domain/problem.ts';
import { parseCsv } from './csv.ts';

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

/** The file cannot be used as it is: every mistake in it, each with its place. */
export class BadPayoutFile extends Error {
  override readonly name = 'BadPayoutFile';
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`Nothing was sent: the file has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}.`);
    this.mistakes = mistakes;
  }
}

interface Row {
  /** As a person finds it. */
  readonly place: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const COLUMNS = ['seller_id', 'amount', 'currency', 'destination'] as const;

/**
 * Reads the payouts of a day from CSV with a header line, or from a JSON list of objects; the fields are seller_id, amount (minor
 * units), currency and destination.
 *
 * @param name decides by its ending how the text is read
 * @throws BadPayoutFile with all mistakes at once
 */
export function readPayouts(
  text: string,
  name: string,
  run: { readonly source: string; readonly date: string },
): PayoutToMake[] {
  const rows = name.toLowerCase().endsWith('.json') ? jsonRows(text) : csvRows(text);
  if (rows.length === 0) throw new BadPayoutFile(['the file has no payouts']);
  const mistakes: string[] = [];
  const payouts: PayoutToMake[] = [];
  const places = new Map<unknown, string>();
  for (const { place, fields } of rows) {
    const seller = fields['seller_id'];
    const earlier = places.get(seller);
    if (earlier === undefined) places.set(seller, place);
    else mistakes.push(`${place}: seller_id is that of ${earlier}; a seller has one payout a day`);
    try {
      payouts.push(validated(newPayout, { ...fields, source: run.source, settlement_date: run.date }));
    } catch (error) {
      if (!(error instanceof Problem) || error.errors === null) throw error;
      mistakes.push(...error.errors.map((mistake) => `${place}: ${`${mistake.path} ${mistake.message}`.trim()}`));
    }
  }
  if (mistakes.length > 0) throw new BadPayoutFile(mistakes);
  return payouts;
}

function jsonRows(text: string): Row[] {
  let parsed: ReturnType<typeof parseJsonBody>;
  try {
    parsed = parseJsonBody(Buffer.from(text.replace(/^\ufeff/, '')));
  } catch {
    throw new BadPayoutFile(['the file is not JSON']);
  }
  // An amount that JSON.parse would round is a mistake, never another amount.
  if (parsed.mistakes.length > 0)
    throw new BadPayoutFile(parsed.mistakes.map(({ path, message }) => `${path} ${message}`));
  if (!Array.isArray(parsed.value)) throw new BadPayoutFile(['the file must hold a list of payouts']);
  return parsed.value.map((fields: unknown, at) => ({
    place: `payout ${at + 1}`,
    fields: typeof fields === 'object' && fields !== null ? { ...fields } : {},
  }));
}

function csvRows(text: string): Row[] {
  let table: ReturnType<typeof parseCsv>;
  try {
    table = parseCsv(text);
  } catch (error) {
    throw new BadPayoutFile([(error as Error).message]);
  }
  const [header, ...rows] = table;
  const names = (header?.cells ?? []).map((name) => name.trim());
  const wrong = [
    ...COLUMNS.filter((column) => !names.includes(column)).map((column) => `the column ${column} is missing`),
    // What stands in a column that nobody reads would be silently left out of the payout.
    ...names.filter((name) => !COLUMNS.some((column) => column === name)).map((name) => `there is no column ${name}`),
    ...names.filter((name, at) => names.indexOf(name) < at).map((name) => `the column ${name} stands there twice`),
  ];
  if (wrong.length > 0) throw new BadPayoutFile(wrong.map((what) => `line ${header?.line ?? 1}: ${what}`));
  return rows.map(({ line, cells }) => {
    const fields = Object.fromEntries(names.map((name, at) => [name, cells[at]?.trim()]));
    const surplus = cells.length > names.length ? { 'more cells than columns': '' } : {};
    return { place: `line ${line}`, fields: { ...fields, ...surplus, amount: wholeNumber(fields['amount']) } };
  });
}

/** Text that is no whole number stays text, which the schema refuses. */
function wholeNumber(text: string | undefined): unknown {
  return text !== undefined && /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

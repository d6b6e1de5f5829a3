import { parseJsonBody } from '../../api/parse-json-body.ts';
import { readTable } from './read-table.ts';

/** The file cannot be used as it is: every mistake in it, each with its place. */
export class BadFile extends Error {
  override readonly name = 'BadFile';
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`Nothing was sent: the file has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}.`);
    this.mistakes = mistakes;
  }
}

export interface FileRow {
  /** As a person finds it. */
  readonly place: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What a file holds. */
export interface FileShape {
  /** One of them: `payout`. */
  readonly what: string;
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  /** Columns of whole numbers; what is none stays text, for the schema to refuse. */
  readonly numbers: readonly string[];
}

/**
 * Reads rows from CSV with a header line, or from a JSON list of objects.
 *
 * @param name decides by its ending how the text is read
 * @throws BadFile with all mistakes at once, as far as reading goes
 */
export function readRows(text: string, name: string, shape: FileShape): FileRow[] {
  const rows = name.toLowerCase().endsWith('.json') ? jsonRows(text, shape) : csvRows(text, shape);
  if (rows.length === 0) throw new BadFile([`the file has no ${shape.what}s`]);
  return rows;
}

function jsonRows(text: string, { what }: FileShape): FileRow[] {
  let parsed: ReturnType<typeof parseJsonBody>;
  try {
    parsed = parseJsonBody(Buffer.from(text.replace(/^\ufeff/, '')));
  } catch {
    throw new BadFile(['the file is not JSON']);
  }
  // An amount that JSON.parse would round is a mistake, never another amount.
  if (parsed.mistakes.length > 0) throw new BadFile(parsed.mistakes.map(({ path, message }) => `${path} ${message}`));
  if (!Array.isArray(parsed.value)) throw new BadFile([`the file must hold a list of ${what}s`]);
  return parsed.value.map((fields: unknown, at) => ({
    place: `${what} ${at + 1}`,
    fields: typeof fields === 'object' && fields !== null ? { ...fields } : {},
  }));
}

function csvRows(text: string, { required, optional = [], numbers }: FileShape): FileRow[] {
  let table: ReturnType<typeof readTable>;
  try {
    table = readTable(text);
  } catch (error) {
    throw new BadFile([(error as Error).message]);
  }
  const [header, ...rows] = table;
  const names = (header?.cells ?? []).map((name) => name.trim());
  const wrong = [
    ...required.filter((column) => !names.includes(column)).map((column) => `the column ${column} is missing`),
    // What stands in a column that nobody reads would be silently left out.
    ...names.filter((name) => ![...required, ...optional].includes(name)).map((name) => `there is no column ${name}`),
    ...names.filter((name, at) => names.indexOf(name) < at).map((name) => `the column ${name} stands there twice`),
  ];
  if (wrong.length > 0) throw new BadFile(wrong.map((what) => `line ${header?.line ?? 1}: ${what}`));
  return rows.map(({ line, cells }) => {
    const given = names.map(
      (name, at) => [name, numbers.includes(name) ? wholeNumber(cells[at]) : cells[at]?.trim()] as const,
    );
    // An empty cell of an optional column says nothing.
    const fields = Object.fromEntries(given.filter(([name, value]) => value !== '' || !optional.includes(name)));
    const surplus = cells.length > names.length ? { 'more cells than columns': '' } : {};
    return { place: `line ${line}`, fields: { ...fields, ...surplus } };
  });
}

/** Text that is no whole number stays text, which the schema refuses. */
function wholeNumber(cell: string | undefined): unknown {
  const text = cell?.trim();
  return text !== undefined && /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

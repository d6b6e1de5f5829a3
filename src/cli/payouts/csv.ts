/** One row of a table. */
export interface CsvRow {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

// A quoted cell with doubled quotes, or a bare one; then what ends it.
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;

/**
 * Reads a table as RFC 4180 describes it, as spreadsheets write it: with a byte order mark or without, any line ends, empty
 * lines between.
 *
 * @throws an error that names the line where it is none
 */
export function parseCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let line = 1;
  let begun = 1;
  let cells: string[] = [];
  CELL.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  while (CELL.lastIndex < text.length) {
    const cell = CELL.exec(text);
    if (cell === null) throw new Error(`line ${line}: a quote stands where none may, or is not closed`);
    const [whole, quoted, bare, end] = cell;
    cells.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0;
    // A comma at the very end of the file opens one more cell, which is empty.
    const last = CELL.lastIndex >= text.length;
    if (end === ',' && last) cells.push('');
    if (end === ',' && !last) continue;
    if (cells.some((value) => value !== '')) rows.push({ line: begun, cells });
    cells = [];
    begun = line;
  }
  return rows;
}

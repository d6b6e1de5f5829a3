import { CsvError, parse, type Info } from 'csv-parse/sync';

/** One row of a table. */
export interface TableRow {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Reads a table as RFC 4180 describes it, as spreadsheets write it: with a byte order mark or without, any line ends, empty
 * lines between.
 *
 * @throws an error that names the line where it is none
 */
export function readTable(text: string): TableRow[] {
  let begun = 1;
  try {
    const rows = parse(text, {
      ...{ bom: true, info: true, raw: true, relax_column_count: true, skip_empty_lines: true },
      record_delimiter: ['\r\n', '\n', '\r'],
      on_record: (row, { lines }) => {
        begun = lines + 1;
        return row;
      },
    }) as unknown as ReadRow[];
    return rows
      .filter(({ record }) => record.some((cell) => cell !== ''))
      .map(({ record, raw, info }) => ({ line: info.lines - breaksWithin(raw), cells: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // One that is not closed is noticed at the end of the file.
    const line = error.code === 'CSV_QUOTE_NOT_CLOSED' ? begun : Number(error['lines'] ?? begun);
    throw new Error(`line ${line}: a quote stands where none may, or is not closed`, { cause: error });
  }
}

interface ReadRow {
  readonly record: readonly string[];
  readonly raw: string;
  readonly info: Info;
}

/** Line breaks in a row's own cells; those around it belong to empty lines and to its end. */
function breaksWithin(raw: string): number {
  return raw.replace(/^[\r\n]+|[\r\n]+$/g, '').match(/\r\n|\n|\r/g)?.length ?? 0;
}

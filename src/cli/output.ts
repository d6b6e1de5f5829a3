/** A command's answer as JSON, for programs; whole numbers of the database are decimal there. */
export function printJson(value: unknown): void {
  const text = JSON.stringify(
    value,
    (_name, member: unknown) => (typeof member === 'bigint' ? Number(member) : member),
    2,
  );
  process.stdout.write(`${text}\n`);
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

export type Align = 'left' | 'right';

/** Rows under a head, in columns as wide as they need. */
export function tableOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  align: readonly Align[] = [],
): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const laidOut = lines.map((line) =>
    line
      .map((cell, column) =>
        align[column] === 'right' ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [laidOut[0], rule, ...laidOut.slice(1)].join('\n');
}

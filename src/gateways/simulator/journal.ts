import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

export interface Journal {
  /** What was written before, oldest first. */
  read(): unknown[];
  /** One line, there for good when this returns (a killed process loses nothing; a power cut may). */
  append(entry: unknown): void;
  /** Replaces everything, all or nothing. */
  replace(entries: readonly unknown[]): void;
  close(): void;
}

/**
 * A file of one JSON line for each change: appending costs the change alone, however much there is already, and a line
 * that a kill tore off is a change that did not happen. `null`: nothing is kept.
 */
export function openJournal(file: string | null): Journal {
  if (file === null) return { read: () => [], append: () => {}, replace: () => {}, close: () => {} };
  mkdirSync(dirname(file), { recursive: true });
  let descriptor: number | null = null;
  let closed = false;

  function release(): void {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  }

  return {
    read: () => (existsSync(file) ? parseLines(file) : []),
    append(entry) {
      // What a slow call still does after the end is as if the process were gone.
      if (closed) return;
      descriptor ??= openSync(file, 'a', 0o600);
      writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    },
    replace(entries) {
      release();
      writeFileSync(`${file}.new`, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    close() {
      closed = true;
      release();
    },
  };
}

function parseLines(file: string): unknown[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  // Whole lines end in a newline, so what follows the last one is empty, or torn off.
  lines.pop();
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as unknown;
    } catch (cause) {
      throw new Error(`Line ${index + 1} of ${file} is damaged; remove the file to begin anew.`, { cause });
    }
  });
}

import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from 'node:fs';

// A day of a developer's work fits many times; two such files per process stay far below what a disk notices.
const LARGE = 20 * 1024 * 1024;
// Holds the last words of any process, a long stack trace included.
const TAIL = 64 * 1024;

/** Puts a log that has grown large aside, as one `.1` file, before it is opened again. */
export function setAsideLargeLog(file: string): void {
  if (existsSync(file) && statSync(file).size > LARGE) renameSync(file, `${file}.1`);
}

/** Where a log ends now: what is written from here on belongs to the process that is started next. */
export function logPosition(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

/** The last lines that were written to a log after a position, as far as they fit into the last 64 KiB. */
export function lastLogLines(file: string, from: number, count: number): string[] {
  if (!existsSync(file)) return [];
  const { size } = statSync(file);
  const start = Math.max(from, size - TAIL);
  const tail = Buffer.alloc(Math.max(0, size - start));
  const opened = openSync(file, 'r');
  readSync(opened, tail, 0, tail.length, start);
  closeSync(opened);
  return tail
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count);
}

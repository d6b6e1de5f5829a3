import type { Exit } from './launch.ts';

// Of pino: 50 is error, 60 fatal.
const ERROR_LEVEL = 50;

/** The line of a log that tells best why its process failed; undefined where none looks like it. */
export function failureReason(lines: readonly string[]): string | undefined {
  for (const line of lines.toReversed()) {
    const reason = loggedError(line) ?? /^(?:Uncaught )?\w*Error\b.*|.*\b(?:FATAL|PANIC):.*/.exec(line)?.[0];
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** What a line of our JSON log says, if it tells of an error. */
function loggedError(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: number; msg?: string; err?: { message?: string } };
    if (level === undefined || level < ERROR_LEVEL) return undefined;
    return [msg, err?.message]
      .filter((part, index, all) => part !== undefined && all.indexOf(part) === index)
      .join(': ');
  } catch {
    return undefined;
  }
}

/** `exit 1` or `SIGKILL`. */
export function describeExit(exit: Exit): string {
  return exit.signal ?? `exit ${String(exit.code)}`;
}

import { readFile } from 'node:fs/promises';
import { runOnce } from './run-once.ts';

const PS_MS = 5_000;

/**
 * What tells a process from a later one with the same id: when it was started. Null when there is no such process (one
 * that has ended and only waits to be reaped counts as none).
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => null);
    if (stat === null) return null;
    // The name stands in brackets and may hold anything, so the fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return null;
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    return `${boot.trim()} ${fields[19] ?? ''}`;
  }
  const answer = await runOnce('ps', ['-o', 'lstart=', '-p', String(pid)], { timeoutMs: PS_MS });
  return answer.ok && answer.output.trim() !== '' ? answer.output.trim() : null;
}

/** The process's command and arguments, separated by blanks; empty when there is no such process. */
export async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const line = await readFile(`/proc/${String(pid)}/cmdline`, 'utf8').catch(() => '');
    return line.replaceAll('\0', ' ').trim();
  }
  const answer = await runOnce('ps', ['-o', 'command=', '-p', String(pid)], { timeoutMs: PS_MS });
  return answer.ok ? answer.output.trim() : '';
}

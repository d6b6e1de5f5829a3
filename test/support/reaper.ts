import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

let reaper: ChildProcess | undefined;

/** Notes a process group or a folder that must be gone when this process is, whatever ends it. Returns how to take it back. */
export function mustNotOutliveUs(kind: 'pid' | 'folder', value: number | string): () => void {
  reaper ??= startReaper();
  const tell = (sign: '+' | '-'): void => {
    reaper?.stdin?.write(`${sign}${kind} ${String(value)}\n`);
  };
  tell('+');
  return () => {
    tell('-');
  };
}

function startReaper(): ChildProcess {
  const program = fileURLToPath(new URL('reaper.mjs', import.meta.url));
  // In a process group of its own, so that a Ctrl-C at the terminal does not end it together with us.
  const child = spawn(process.execPath, [program], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  child.unref();
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  // It must not keep a finished run alive; that is how it learns that we are gone.
  (child.stdin as unknown as { unref(): void }).unref();
  return child;
}

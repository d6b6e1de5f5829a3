import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** SIGKILL after this long. */
  readonly timeoutMs: number;
  /** SIGKILL when it is aborted. */
  readonly signal?: AbortSignal;
}

export interface RunResult {
  readonly ok: boolean;
  /** Standard output and standard error in the order they came; where the command cannot be run at all, why. */
  readonly output: string;
}

/** Runs a command to its end and keeps its output. Never rejects: a command that is not there is a result, too. */
export async function runOnce(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: options.env ?? process.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      killSignal: 'SIGKILL',
    });
    let output = '';
    const keep = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    // A command that ends without reading its input breaks the pipe; how it ended is told by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    child.once('error', (error) => {
      resolve({ ok: false, output: error.message });
    });
    child.once('close', (code, signal) => {
      resolve({
        ok: code === 0,
        output: signal === 'SIGKILL' ? `${output}\n(ended after ${String(options.timeoutMs)} ms)` : output,
      });
    });
  });
}

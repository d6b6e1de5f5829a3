// Ends what a test run started, however the run itself ended: it waits on its standard input, which closes when the run is
// gone, also when that was killed. One line a thing: `+pid N`, `-pid N`, `+folder PATH`, `-folder PATH`.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const pids = new Set();
const folders = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
for await (const line of createInterface({ input: process.stdin })) {
  const [, sign, kind, value] = /^([+-])(pid|folder) (.*)$/.exec(line) ?? [];
  const things = kind === 'pid' ? pids : folders;
  if (sign === '+') things.add(value);
  else things.delete(value);
}
for (const pid of pids) {
  try {
    process.kill(-Number(pid), 'SIGKILL');
  } catch {
    // Gone already.
  }
}
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });

import { Presets, SingleBar } from 'cli-progress';

/** How far a step has come, shown to whoever waits. */
export interface Progress {
  readonly begin: (what: string, total: number) => void;
  readonly at: (done: number) => void;
  readonly end: () => void;
}

/** In a log a line now and then is plenty. */
const LINE_EVERY_MS = 2_000;

/** A bar on a terminal, lines elsewhere, on standard error: standard output belongs to the answer. */
export function createProgress(): Progress {
  return process.stderr.isTTY ? bar() : lines();
}

function bar(): Progress {
  let current: SingleBar | null = null;
  return {
    begin(what, total) {
      current = new SingleBar(
        {
          format: '{what} {bar} {value}/{total}',
          hideCursor: true,
          clearOnComplete: true,
          stopOnComplete: false,
          barsize: 40,
        },
        Presets.shades_classic,
      );
      current.start(total, 0, { what: what.padEnd(28) });
    },
    at: (done) => current?.update(done),
    end() {
      current?.stop();
      current = null;
    },
  };
}

function lines(): Progress {
  let what = '';
  let total = 0;
  let said = '';
  let saidAt = 0;
  const say = (done: number): void => {
    const line = `${what} ${done}/${total}`;
    if (line === said) return;
    said = line;
    saidAt = Date.now();
    process.stderr.write(`${line}\n`);
  };
  let last = 0;
  return {
    begin(name, of) {
      what = name;
      total = of;
      last = 0;
      say(0);
    },
    at(done) {
      last = done;
      if (Date.now() - saidAt > LINE_EVERY_MS) say(done);
    },
    end: () => say(last),
  };
}

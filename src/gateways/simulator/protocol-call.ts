import { setTimeout as delay } from 'node:timers/promises';
import type { Faults } from './faults.ts';
import type { Later } from './later.ts';
import { Refusal } from './refusal.ts';
import type { Reply, Request, Route } from './router.ts';

interface Dependencies {
  readonly apiKey: string;
  readonly faults: Faults;
  readonly later: Later;
  /** Told of every call of the protocol, for the counts. */
  readonly onCall: (name: string) => void;
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The work, done at once and whole. `names` are what a fault's `calls` may say of this call. */
  readonly work: (request: Request, names: readonly string[]) => Reply;
}

/** Makes a route of a call: asks for the key, and lets the faults happen to it around the work. */
export function createProtocolCall({ apiKey, faults, later, onCall }: Dependencies): (call: Call) => Route {
  function workLater(call: Call, request: Request, names: readonly string[], afterMs: number): void {
    later.after(afterMs, () => {
      try {
        call.work(request, names);
      } catch (error) {
        // Nobody is there to hear a refusal; anything else is a mistake of the simulator's own.
        if (!(error instanceof Refusal)) process.stderr.write(`late work failed: ${String(error)}\n`);
      }
    });
  }

  return (call) => ({
    method: call.method,
    path: call.path,
    async handle(request) {
      const names = namesOf(call);
      onCall(`${call.method} ${call.path}`);
      if (request.headers.authorization !== `Bearer ${apiKey}`) throw new Refusal(401, 'unauthorized');
      const slow = faults.meets('slow_ms', names);
      if (slow) await delay(faults.between('slow_ms', slow.ms));
      const limit = faults.meets('rate_limit', names);
      if (limit) {
        return { status: 429, json: { code: 'rate_limited' }, headers: { 'retry-after': String(limit.retry_after) } };
      }
      const before = faults.meets('error_before', names);
      if (before) return { status: before.status, json: { code: 'gateway_unavailable' } };
      const late = faults.meets('late_work', names);
      if (late) {
        const afterMs = faults.between('late_work', late.after_ms);
        if (late.how === 'cut') workLater(call, request, names, afterMs);
        else request.gone.addEventListener('abort', () => workLater(call, request, names, afterMs));
        return { status: 500, lost: late.how };
      }
      const reply = call.work(request, names);
      const after = faults.meets('error_after', names);
      if (after) return { status: after.status, json: { code: 'gateway_broken' } };
      const lost = faults.meets('lose_answer', names);
      return lost ? { ...reply, lost: lost.how } : reply;
    },
  });
}

/** The narrowest first: the streams of chance are named by it. */
function namesOf({ method, path }: Call): string[] {
  const resource = path.split('/')[1] ?? '';
  const kind = method === 'GET' ? 'reads' : 'writes';
  return [`${resource}.${kind}`, resource, kind];
}

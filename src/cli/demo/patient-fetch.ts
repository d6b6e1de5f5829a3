import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command-error.ts';

export interface PatientCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  /** Null where it is no JSON. */
  readonly body: unknown;
}

/** A process that was killed is back within seconds; past this somebody should look. */
const PATIENCE_MS = 120_000;
const ONE_CALL_MS = 15_000;
const PAUSE_MS = 300;

/**
 * What a merchant's service does when no answer comes, or one that says "not now": the same request again, under the same
 * Idempotency-Key, until it is answered. So the demo goes on when an API process is killed under it.
 *
 * @throws CommandError when nothing came in two minutes
 */
export async function patientFetch({ method, url, headers = {}, body }: PatientCall): Promise<Answer> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    let trouble: string;
    try {
      const response = await fetch(url, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ONE_CALL_MS),
      });
      const text = await response.text();
      const answer = { status: response.status, body: jsonOrNull(text) };
      if (!isNotNow(answer)) return answer;
      trouble = `it answers ${response.status}`;
    } catch (error) {
      trouble = error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : String(error);
    }
    if (Date.now() > deadline) {
      throw new CommandError(
        `${new URL(url).origin} has not been reachable for two minutes (${trouble}): is npm start running?`,
      );
    }
    await delay(PAUSE_MS);
  }
}

function isNotNow({ status, body }: Answer): boolean {
  const { code } = (body ?? {}) as { code?: string };
  return status >= 500 || status === 429 || (status === 409 && code === 'request_in_progress');
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

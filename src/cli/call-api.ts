import { CommandError, EXIT } from './command-error.ts';
import { apiAccess } from './settings.ts';

/** Longer than the API's own longest wait. */
const TIMEOUT_MS = 15_000;

interface Problem {
  readonly code?: string;
  readonly detail?: string;
}

/** One call of the HTTP API with the operator's key; answers its JSON. */
export async function callApi<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
  const { url, key } = apiAccess();
  let response: Response;
  try {
    response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const reason =
      error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : String(error);
    throw new CommandError(`The API at ${url} does not answer (${reason}): is npm start running?`);
  }
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer as T;
  const { code = `http_${response.status}`, detail = 'it gave no reason' } = (answer ?? {}) as Problem;
  throw new CommandError(`The API refused: ${detail} (${code})`, response.status >= 500 ? EXIT.cannot : EXIT.no);
}

import { askApi, type ApiResult } from './ask-api.ts';
import { CommandError, EXIT } from './command-error.ts';
import { apiAccess } from './settings.ts';

/** One call of the HTTP API with the operator's key, for commands that have nothing to say without its answer: its JSON. */
export async function callApi<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
  const access = apiAccess();
  let answer: ApiResult;
  try {
    answer = await askApi(access, method, path, { body });
  } catch (error) {
    const reason =
      error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : String(error);
    throw new CommandError(`The API at ${access.url} does not answer (${reason}): is npm start running?`);
  }
  if (answer.status < 400) return answer.body as T;
  throw new CommandError(`The API refused: ${refusal(answer)}`, answer.status >= 500 ? EXIT.cannot : EXIT.no);
}

function refusal({ status, body }: ApiResult): string {
  const {
    code = `http_${status}`,
    detail = 'it gave no reason',
    errors = [],
  } = body as {
    readonly code?: string;
    readonly detail?: string;
    readonly errors?: readonly { readonly path: string; readonly message: string }[];
  };
  return [`${detail} (${code})`, ...errors.map(({ path, message }) => `  ${path} ${message}`)].join('\n');
}

import type { Problem } from '../domain/problem.ts';

/** An answer, ready to be sent by whatever serves HTTP. Header names are lower case. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A refusal as RFC 9457 asks. */
export function problemResponse(problem: Problem, requestId: string): HttpAnswer {
  const { code, title, status, message: detail, errors } = problem;
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...problem.headers },
    body: JSON.stringify({
      type: 'about:blank',
      title,
      status,
      detail,
      code,
      request_id: requestId,
      ...(errors === null ? {} : { errors }),
    }),
  };
}

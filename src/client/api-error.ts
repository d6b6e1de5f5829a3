import { PROBLEMS } from '../domain/problem.ts';

/** What the API says when it refuses (RFC 9457). */
export interface ProblemBody {
  readonly code: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** A refusal, or an answer that is none. Where no answer came at all, the error of `fetch` is thrown as it is. */
export class PaidonceError extends Error {
  override readonly name = 'PaidonceError';
  readonly status: number;
  /** A code of the contract; `no_answer` for what came from something between. */
  readonly code: string;
  /** To be named when asking for help. */
  readonly requestId: string | null;
  /** Every mistake of the request. */
  readonly errors: NonNullable<ProblemBody['errors']>;
  /** The same request, under the same key, may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;

  constructor(status: number, problem: Partial<ProblemBody>, retryAfter: string | null) {
    super(problem.detail ?? `The API answered ${status}.`);
    this.status = status;
    this.code = problem.code ?? 'no_answer';
    this.requestId = problem.request_id ?? null;
    this.errors = problem.errors ?? [];
    this.retryable = this.code in PROBLEMS ? PROBLEMS[this.code as keyof typeof PROBLEMS].retryable : status >= 500;
    this.retryAfterSeconds = retryAfter === null || !/^\d+$/.test(retryAfter) ? null : Number(retryAfter);
  }
}

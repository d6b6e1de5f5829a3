/** A request that is answered with `{code}`; a definite no, for which nothing was done. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string = code) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

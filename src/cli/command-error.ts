/** What a command ends with besides its answer. */
export const EXIT = {
  /** The answer is no: a violation, a failed demo, a refusal. */
  no: 1,
  /** The command could not be carried out: a mistake in it, or nobody there to ask. */
  cannot: 2,
} as const;

/** Ends the command with one sentence that says what is wrong and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(sentence: string, exitCode: number = EXIT.cannot) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

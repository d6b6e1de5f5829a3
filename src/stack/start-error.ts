/** A start that cannot go on. The message is one plain sentence for the person at the terminal, without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

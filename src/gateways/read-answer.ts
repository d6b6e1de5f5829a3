/** A page of a hundred fully expanded payments is well below; beyond it somebody fills our memory. In bytes. */
export const LARGEST_ANSWER = 16 * 1024 * 1024;

/** The body has more than {@link LARGEST_ANSWER} bytes; the rest of it was not read. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/**
 * The text of an answer's body. Its size is counted as it comes out of here, after inflating: a small body may hold a
 * large one.
 *
 * @throws AnswerTooLarge; the stream's own error where it breaks off
 */
export async function readAnswer(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop ends the stream, and by that the connection: nobody reads on behind our back.
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) throw new AnswerTooLarge(`The answer has more than ${LARGEST_ANSWER} bytes.`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

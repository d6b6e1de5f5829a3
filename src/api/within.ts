/** Nothing came in time. */
export class TooLate extends Error {
  override readonly name = 'TooLate';
}

/**
 * What `work` answers, unless the deadline passes first: then it is left to itself. A client's own deadline does not cover
 * everything, as the first connection.
 *
 * @param deadline milliseconds since the epoch
 * @throws TooLate
 */
export async function within<T>(deadline: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate('There was no answer in time.')), deadline - Date.now());
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

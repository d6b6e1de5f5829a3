import { callApi } from './call-api.ts';

const PAGE = 200;

/**
 * All entries of a list of the API, page by page, up to the first one that is not wanted or to `limit`.
 *
 * @param path with its filters, if any
 */
export async function listAll<Entry>(
  path: string,
  {
    wanted = () => true,
    limit = Number.POSITIVE_INFINITY,
  }: { wanted?: (entry: Entry) => boolean; limit?: number } = {},
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | null = null;
  do {
    const query: string = new URLSearchParams({
      limit: String(Math.min(PAGE, limit)),
      ...(cursor === null ? {} : { cursor }),
    }).toString();
    const page: { data: Entry[]; next_cursor: string | null } = await callApi(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}${query}`,
    );
    for (const entry of page.data) {
      if (entries.length >= limit || !wanted(entry)) return entries;
      entries.push(entry);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return entries;
}

import { MOST_IMPORTED } from '../../api/schemas/order.ts';
import { askApi } from '../ask-api.ts';
import { callApi } from '../call-api.ts';
import { apiAccess } from '../settings.ts';
import type { OrderOfFile } from './read-orders.ts';

export interface ImportSummary {
  readonly imported: number;
  readonly unchanged: number;
  /** What stands there says otherwise; the others go on. */
  readonly refused: readonly { readonly place: string; readonly id: string; readonly reason: string }[];
  /** What only the API could see to be wrong, each with its place. */
  readonly mistakes: readonly string[];
}

interface Report {
  readonly imported: number;
  readonly unchanged: number;
  readonly refused: readonly { readonly index: number; readonly id: string; readonly reason: string }[];
}

/** Sends the orders of a file to the API, as many at a time as it takes. */
export async function importOrders(
  orders: readonly OrderOfFile[],
  options: { readonly dryRun: boolean; readonly onProgress: (done: number) => void },
): Promise<ImportSummary> {
  let [imported, unchanged] = [0, 0];
  const refused: ImportSummary['refused'][number][] = [];
  const mistakes: string[] = [];
  for (let at = 0; at < orders.length; at += MOST_IMPORTED) {
    const batch = orders.slice(at, at + MOST_IMPORTED);
    const sent = await send(batch, options.dryRun);
    if ('mistakes' in sent) mistakes.push(...sent.mistakes);
    else {
      imported += sent.imported;
      unchanged += sent.unchanged;
      refused.push(...sent.refused.map(({ index, id, reason }) => ({ place: batch[index]?.place ?? '', id, reason })));
    }
    options.onProgress(at + batch.length);
  }
  return { imported, unchanged, refused, mistakes };
}

async function send(
  batch: readonly OrderOfFile[],
  dryRun: boolean,
): Promise<Report | { readonly mistakes: readonly string[] }> {
  const body = { orders: batch.map(({ order }) => order), dry_run: dryRun };
  if (!dryRun) return callApi<Report>('POST', '/v1/orders/import', body);
  const answer = await askApi(apiAccess(), 'POST', '/v1/orders/import', { body }).catch(() => null);
  const errors = answer?.status === 422 ? (answer.body['errors'] as { path: string; message: string }[]) : null;
  // Whatever else it says is said as by every command.
  if (errors === null)
    return answer?.status === 200 ? (answer.body as unknown as Report) : callApi('POST', '/v1/orders/import', body);
  return {
    mistakes: errors.map(({ path, message }) => {
      const [, index = '', field = path] = /^orders\[(\d+)\]\.?(.*)$/.exec(path) ?? [];
      return `${batch[Number(index)]?.place ?? path}: ${`${field} ${message}`.trim()}`;
    }),
  };
}

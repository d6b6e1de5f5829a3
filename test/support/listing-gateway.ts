import type { Source } from '../../src/gateways/admitted.ts';
import { standardSource } from './engine.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts';

export interface ListedEntry {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ListingGateway {
  readonly source: Source;
  readonly requests: ScriptedServer['requests'];
  /** What it lists, in its order; cursors are the ids of entries. */
  list: unknown[];
  /** What it answers in place of the list. */
  trouble: { readonly status: number; readonly body: unknown } | null;
  /** What it answers to a cursor, where that is not what follows it in the list. */
  answerTo: ((after: string) => { readonly status: number; readonly body: unknown }) | null;
  close(): Promise<void>;
}

/** A gateway of the `standard` protocol of which only the list of events is there, and that is as the test says. */
export async function startListingGateway(): Promise<ListingGateway> {
  const server = await startScriptedServer((request, response) => {
    if (gateway.trouble !== null) return sendJson(response, gateway.trouble.status, gateway.trouble.body);
    const query = new URL(request.path, 'http://gateway').searchParams;
    const after = query.get('after');
    if (after !== null && gateway.answerTo !== null) {
      const { status, body } = gateway.answerTo(after);
      return sendJson(response, status, body);
    }
    const from = after === null ? 0 : gateway.list.findIndex((entry) => (entry as ListedEntry).id === after) + 1;
    if (after !== null && from === 0) return sendJson(response, 400, { code: 'unknown_cursor' });
    const limit = Number(query.get('limit'));
    const data = gateway.list.slice(from, from + limit);
    const more = from + limit < gateway.list.length;
    return sendJson(response, 200, { data, next: more ? (data.at(-1) as ListedEntry).id : null });
  });
  const [, source] = standardSource(server.url);
  const gateway: ListingGateway = {
    source,
    requests: server.requests,
    list: [],
    trouble: null,
    answerTo: null,
    close: () => server.close(),
  };
  return gateway;
}

/** An entry about a captured payment, `minutes` old. */
export function listedEntry(id: string, minutes = 10, data: object = {}): ListedEntry {
  return {
    ...{ id, type: 'payment.captured', timestamp: new Date(Date.now() - minutes * 60_000).toISOString() },
    data: {
      payment_id: `pay_${id}`,
      order_id: `ord_${id}`,
      status: 'captured',
      amount: 10_000,
      currency: 'EUR',
      ...data,
    },
  };
}

export function listedEntries(n: number, minutes: number, prefix = 'e'): ListedEntry[] {
  return Array.from({ length: n }, (_, at) => listedEntry(`${prefix}${at}`, minutes));
}

import { payoutRequestKey } from '../../domain/keys.ts';
import { askApi, type ApiAccess, type ApiResult } from '../ask-api.ts';
import type { PayoutToMake } from './read-payouts.ts';

/** What became of one payout of the file. */
export interface MadePayout {
  readonly payout: PayoutToMake;
  /**
   * `paid` and `under_way` are through: the gateway has it. `waiting`: it has not answered yet. `needs_human`: its outcome
   * is unknown, or a person decides. `refused`: the API did not take it. `no_answer`: nobody knows whether it did.
   */
  readonly result: 'paid' | 'under_way' | 'waiting' | 'needs_human' | 'failed' | 'refused' | 'no_answer';
  readonly id: string | null;
  /** A sentence; empty where there is nothing to say. */
  readonly detail: string;
}

export function isThrough({ result }: MadePayout): boolean {
  return result === 'paid' || result === 'under_way';
}

/**
 * Asks for one payout under the key that its account, seller and day give: however often this runs, there is one. What an earlier run
 * has asked for is shown as it stands now.
 */
export async function makePayout(access: ApiAccess, payout: PayoutToMake): Promise<MadePayout> {
  const key = payoutRequestKey(payout.source, payout.seller_id, payout.settlement_date);
  try {
    const asked = await askApi(access, 'POST', '/v1/payouts', { key, body: payout });
    const location = asked.headers.get('location');
    if (asked.status === 201 && !asked.headers.has('idempotent-replayed')) return shown(payout, asked.body);
    const taken = asked.status === 201 || asked.status === 202 || asked.body['code'] === 'payout_exists';
    return taken && location !== null ? await lookAtPayout(access, payout, location) : refused(payout, asked);
  } catch (error) {
    // fetch says why in the cause alone.
    const { message } = ((error as Error).cause ?? error) as Error;
    return { payout, result: 'no_answer', id: null, detail: message };
  }
}

/** The payout as it stands at the API. */
export async function lookAtPayout(access: ApiAccess, payout: PayoutToMake, location: string): Promise<MadePayout> {
  const found = await askApi(access, 'GET', location);
  return found.status === 200 ? shown(payout, found.body) : refused(payout, found);
}

function shown(payout: PayoutToMake, body: ApiResult['body']): MadePayout {
  const id = String(body['id']);
  const differing = (['source', 'amount', 'currency', 'destination'] as const).filter(
    (field) => body[field] !== payout[field],
  );
  if (differing.length > 0) {
    const detail = `${id} is this seller's payout of the day, with another ${differing.join(' and ')}`;
    return { payout, result: 'refused', id, detail };
  }
  const failure = typeof body['failure_code'] === 'string' ? body['failure_code'] : '';
  switch (body['status']) {
    case 'succeeded':
      return { payout, result: 'paid', id, detail: '' };
    case 'pending':
      return body['gateway_payout_id'] === null
        ? { payout, result: 'waiting', id, detail: 'the gateway has not answered yet' }
        : { payout, result: 'under_way', id, detail: '' };
    case 'failed':
      return { payout, result: 'failed', id, detail: failure };
    default:
      return { payout, result: 'needs_human', id, detail: `${String(body['status'])} ${failure}`.trim() };
  }
}

function refused(payout: PayoutToMake, { status, body: { code, detail } }: ApiResult): MadePayout {
  const reason = typeof code === 'string' && typeof detail === 'string' ? `${code}: ${detail}` : `HTTP ${status}`;
  return { payout, result: 'refused', id: null, detail: reason };
}

import { isThrough, type MadePayout } from './make-payout.ts';

const RESULTS: Readonly<Record<MadePayout['result'], string>> = {
  paid: 'paid',
  under_way: 'under way at the gateway',
  waiting: 'not answered by the gateway yet',
  needs_human: 'waiting for a person',
  failed: 'failed',
  refused: 'refused',
  no_answer: 'without an answer of the API',
};

/** The run for people: what came through, and each that did not with its reason. */
export function payoutsSummary(made: readonly MadePayout[]): string {
  const through = made.filter(isThrough);
  const others = made.filter((one) => !isThrough(one));
  const lines = [`${through.length} of ${made.length} payouts are through${sums(through)}.`];
  for (const result of Object.keys(RESULTS) as MadePayout['result'][]) {
    const count = made.filter((one) => one.result === result).length;
    if (count > 0) lines.push(`  ${String(count).padStart(6)} ${RESULTS[result]}`);
  }
  for (const { payout, result, detail } of others) {
    lines.push(`  ${payout.seller_id}: ${RESULTS[result]}${detail === '' ? '' : `: ${detail}`}`);
  }
  if (others.length > 0) lines.push('Run the same command again to go on: nobody is paid twice.');
  return lines.join('\n');
}

/** The same for programs. */
export function payoutsReport(made: readonly MadePayout[]) {
  return {
    through: made.filter(isThrough).length,
    not_through: made.filter((one) => !isThrough(one)).length,
    payouts: made.map(({ payout, result, id, detail }) => ({ ...payout, id, result, detail })),
  };
}

function sums(made: readonly MadePayout[]): string {
  const byCurrency = new Map<string, bigint>();
  for (const { payout } of made) {
    byCurrency.set(payout.currency, (byCurrency.get(payout.currency) ?? 0n) + BigInt(payout.amount));
  }
  const parts = [...byCurrency].map(([currency, sum]) => `${sum} ${currency}`);
  return parts.length === 0 ? '' : `: ${parts.join(', ')} in minor units`;
}

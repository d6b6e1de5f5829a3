import { setTimeout as delay } from 'node:timers/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openPaymentLab, type PaymentLab } from '../support/payment-lab.ts';
import { writeRun } from './histories.ts';
import { RECORDED_CHANNELS } from './scenario-steps.ts';
import { SCENARIOS } from './scenarios.ts';

/**
 * Records the histories of test/replay/histories anew, from a real run of each scenario: `npm run record`, or
 * `npm run record -- -t refund-payment` for some of them. Before the first release they are recorded anew with every
 * change of a workflow; afterwards those of a released version stay as they are, since runs of it may still be open, and
 * new ones come beside them.
 */

let lab: PaymentLab;
beforeAll(async () => {
  // Without the relay nothing happens to a run but what its scenario does.
  lab = await openPaymentLab({ relay: false, alerts: { channels: RECORDED_CHANNELS } });
});
afterAll(() => lab.close());
afterEach(() => lab.control('faults', {}, 'PUT'));

it.each(Object.entries(SCENARIOS))('%s', async (name, scenario) => {
  const { workflowId, waits } = await scenario(lab, name.replaceAll(/[^a-z]/g, '_'));
  const handle = lab.client.workflow.getHandle(workflowId);
  if (!waits) await handle.result().catch(() => undefined);
  expect((await handle.describe()).status.name === 'RUNNING').toBe(waits);
  await writeRun(name, historyToJSON(await settled(() => handle.fetchHistory())));
});

/** A run that waits may still be writing down why; its history stands still when it has grown no further for a while. */
async function settled<H extends { events?: unknown[] | null }>(fetchHistory: () => Promise<H>): Promise<H> {
  for (let before = -1; ;) {
    const history = await fetchHistory();
    const length = history.events?.length ?? 0;
    if (length === before) return history;
    before = length;
    await delay(300);
  }
}

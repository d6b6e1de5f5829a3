import { afterAll, beforeAll, it } from 'vitest';
import { openSystem, paymentEvent, type System } from '../support/system.ts';
let system: System;
beforeAll(async () => { system = await openSystem({ servers: 1 }); });
afterAll(() => system.close());
it('x', async () => {
  for (let n = 0; n < 10; n++) {
    await system.order({ id: 'ord_' + n });
    await system.pay('pay_' + n, 'ord_' + n);
    for (const k of [1,2,3]) {
      await system.deliver(paymentEvent('pay_' + n, 'ord_' + n), {id: `evt_${n}_${k}`});
      await system.eventIs(`evt_${n}_${k}`, 'processed');
    }
  }
  const t = Date.now();
  const runs: any[] = [];
  for await (const { workflowId, runId } of system.temporal.client.workflow.list()) runs.push({ workflowId, runId });
  await Promise.all(runs.map((workflowExecution) => system.temporal.connection.workflowService.deleteWorkflowExecution({ namespace: system.temporal.namespace, workflowExecution })));
  console.log('asked', Date.now() - t, runs.length);
  let gone = 0;
  while (gone < runs.length || (await system.temporal.client.workflow.count()).count > 0) {
    gone = 0;
    for (const { workflowId, runId } of runs) await system.temporal.client.workflow.getHandle(workflowId, runId).describe().catch(() => { gone++; });
    console.log(Date.now() - t, 'gone', gone, 'listed', (await system.temporal.client.workflow.count()).count);
    await new Promise((r) => setTimeout(r, 500));
  }
}, 120_000);

import { CancellationScope, setDefaultSignalHandler, workflowInfo } from '@temporalio/workflow';
import { quickly } from './quickly.ts';

/**
 * A signal that nothing here handles is a mistake of whoever sent it, or of an older or newer version: accepted by the engine, it
 * would wait unheard for ever. It is put before a person, by its name; what it carried is not looked at. Every workflow
 * whose id others know calls this, and ends only when all handlers have finished.
 */
export function handleUnknownSignals(): void {
  setDefaultSignalHandler(async (name) => {
    await CancellationScope.nonCancellable(() =>
      quickly((activities) => activities.reportUnknownSignal(workflowInfo().workflowId, name)),
    );
  });
}

import { Command } from 'commander';
import { callApi } from './call-api.ts';
import { print, printJson } from './output.ts';

interface Reconciled {
  readonly source: string;
  readonly workflow_id: string;
  readonly status: 'completed' | 'running';
  readonly checked: number | null;
  readonly restarted: number | null;
  readonly examples: readonly string[];
}

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .description('start the work again that is not over and whose run is gone; it runs every 5 minutes by itself')
    .option('--source <name>', 'one source only')
    .option('--json', 'answer as JSON')
    .action(async ({ source, json = false }: { source?: string; json?: boolean }) => {
      const { data } = await callApi<{ data: readonly Reconciled[] }>('POST', '/v1/reconcile', { source });
      if (json) printJson({ data });
      else print(data.length === 0 ? 'No source is configured.' : data.flatMap(linesOf).join('\n'));
    });
}

function linesOf({ source, workflow_id: workflowId, status, checked, restarted, examples }: Reconciled): string[] {
  if (status === 'running') return [`${source}: still running; ${workflowId} in Temporal tells how far it is.`];
  const more = (restarted ?? 0) - examples.length;
  return [
    `${source}: ${checked ?? 0} not over, ${restarted ?? 0} started again.`,
    ...examples.map((id) => `  ${id}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

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
  readonly missing_webhooks: {
    readonly workflow_id: string;
    readonly status: 'completed' | 'running';
    readonly listed: number | null;
    readonly found: number | null;
    readonly left: number | null;
    readonly examples: readonly string[];
    readonly unfinished: boolean | null;
    readonly problem: string | null;
  };
}

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .description(
      'start the work again whose run is gone, and find the webhooks that never came; both run every 5 minutes by themselves',
    )
    .option('--source <name>', 'one source only')
    .option('--json', 'answer as JSON')
    .action(async ({ source, json = false }: { source?: string; json?: boolean }) => {
      const { data } = await callApi<{ data: readonly Reconciled[] }>('POST', '/v1/reconcile', { source });
      if (json) printJson({ data });
      else print(data.length === 0 ? 'No source is configured.' : data.flatMap(linesOf).join('\n'));
    });
}

function linesOf(reconciled: Reconciled): string[] {
  return [...restartedLines(reconciled), ...missingLines(reconciled)];
}

function missingLines({ source, missing_webhooks: missing }: Reconciled): string[] {
  const { workflow_id: workflowId, status, listed, found, left, examples, unfinished, problem } = missing;
  if (status === 'running')
    return [`${source}: still looking at the gateway; ${workflowId} in Temporal tells how far it is.`];
  if (problem !== null) return [`${source}: ${problem}`];
  const more = (found ?? 0) - examples.length;
  return [
    `${source}: ${listed ?? 0} events listed at the gateway, ${found ?? 0} of them had never come` +
      (left === 0 || left === null ? '.' : `, ${left} may still be on their way.`),
    ...examples.map((id) => `  ${id}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(unfinished === true ? ['  The list goes on, and so does the next run.'] : []),
  ];
}

function restartedLines({ source, workflow_id: workflowId, status, ...reconciled }: Reconciled): string[] {
  const { checked, restarted, examples } = reconciled;
  if (status === 'running') return [`${source}: still running; ${workflowId} in Temporal tells how far it is.`];
  const more = (restarted ?? 0) - examples.length;
  return [
    `${source}: ${checked ?? 0} not over, ${restarted ?? 0} started again.`,
    ...examples.map((id) => `  ${id}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

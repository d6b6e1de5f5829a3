import { Context } from '@temporalio/activity';

/** The same for every attempt of one step, so that one that is repeated joins the question that it asked before. */
export function callerHere(): string {
  const { workflowExecution, activityId } = Context.current().info;
  return `${workflowExecution?.runId ?? ''}:${activityId}`;
}

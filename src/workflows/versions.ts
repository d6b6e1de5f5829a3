import { patched } from '@temporalio/workflow';

/** What runs that began under older code do otherwise, each by its name; a name is never used again. */

/** A flood is worked through in several tasks, and a browser that asks is heard between them. */
export function stepsInTasksOfTheirOwn(): boolean {
  return patched('steps-in-tasks-of-their-own');
}

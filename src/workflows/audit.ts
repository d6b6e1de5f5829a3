import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { AUDIT } from './retry.ts';

const activities = proxyActivities<Activities>(AUDIT);

/** Checks every promise on the database; a schedule starts it, and people are told of what is broken. */
export async function audit(): Promise<Awaited<ReturnType<Activities['auditDatabase']>>> {
  const result = await activities.auditDatabase();
  const broken = result.violations.map(({ invariant, count }) => `${invariant} (${count})`);
  setCurrentDetails(
    broken.length === 0
      ? `All ${result.checked} promises hold.`
      : `Broken, of ${result.checked}: ${broken.join(', ')}.`,
  );
  return result;
}

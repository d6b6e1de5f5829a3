/** How the history names a person's decision, and what follows from one. */
export const PERSON_CAUSES = ['decided by ', 'decision about '] as const;

export function decidedBy(who: string): string {
  return `${PERSON_CAUSES[0]}${who}`;
}

/** @param workflowId what the decision is about */
export function decisionAbout(workflowId: string): string {
  return `${PERSON_CAUSES[1]}${workflowId}`;
}

export function isByPerson(cause: string): boolean {
  return PERSON_CAUSES.some((begin) => cause.startsWith(begin));
}

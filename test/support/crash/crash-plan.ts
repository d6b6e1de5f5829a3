/** What a process with the preload is told by its plan file. */
export interface CrashPlan {
  /** Of the crash point; another name begins to count anew. */
  readonly name: string;
  /** Ids by which the steps of what is tried are told from all others. */
  readonly tags: readonly string[];
  /** Counted from 1, or how the step's line begins, such as `after gateway POST`; null: count only. */
  readonly at: number | string | null;
  /** Each counted step is written here before it is taken: `{n} {before|after} {what}`. */
  readonly log: string;
}

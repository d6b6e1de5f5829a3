/** An invariant, the ids that the violation must name, and the statements that break it in a database after `seedStorm`. */
export type Breach = readonly [invariant: string, ids: Readonly<Record<string, string>>, ...statements: string[]];

/** Longer ago than anything may take by itself. */
export const DAY_AGO = `now() - interval '1 day'`;

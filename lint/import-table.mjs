/**
 * Who may import what: the architecture as data. The rule in import-table-rule.mjs reads it, and a violation fails the
 * build; test/unit/import-table.test.ts holds a seeded violation of each kind against it.
 *
 * ours   the places of ours that a place may import (`place`, or `place/module` for one module of it); itself always
 * types  the places it may name by `import type` only
 * npm    the packages it may import; ANY: every package that no other place keeps for itself (EXCLUSIVE_PACKAGES)
 * node   whether it may import the built-in modules of Node
 */
export const ANY = '*';

/** Packages that one place keeps for itself, so that SQL and HTTP cannot leak; and those that may look behind it. */
export const EXCLUSIVE_PACKAGES = {
  pg: ['database', 'test', 'bench', 'examples'],
  express: ['api', 'test', 'bench', 'examples'],
};

const CORE = [
  'domain',
  'workflows',
  'activities',
  'gateways',
  'database',
  'relay',
  'notify',
  'api',
  'client',
  'telemetry',
];
const ALL_BUT_CONSOLE = [...CORE, 'stack', 'cli', 'config'];
const EVERYTHING = [...ALL_BUT_CONSOLE, 'console'];

export const IMPORT_TABLE = {
  // Pure: the same answer for the same question, in the sandbox of the workflows too.
  domain: { ours: [], types: [], npm: [], node: false },
  // Deterministic: what is replayed may touch the world through activities only, which it knows by their types.
  workflows: {
    ours: ['domain'],
    types: ['activities'],
    npm: ['@temporalio/workflow', '@temporalio/common'],
    node: false,
  },
  activities: { ours: ['domain', 'database', 'gateways', 'notify', 'telemetry'], types: [], npm: ANY, node: true },
  gateways: { ours: ['domain'], types: [], npm: ANY, node: true },
  database: { ours: ['domain'], types: [], npm: ANY, node: true },
  relay: { ours: ['domain', 'database', 'workflows/messages', 'telemetry'], types: [], npm: ANY, node: true },
  notify: { ours: ['domain'], types: [], npm: ANY, node: true },
  api: {
    ours: ['domain', 'database', 'gateways', 'relay', 'workflows/messages', 'telemetry'],
    types: [],
    npm: ANY,
    node: true,
  },
  client: { ours: ['domain', 'workflows/messages'], types: [], npm: ANY, node: true },
  telemetry: { ours: ['domain'], types: [], npm: ANY, node: true },
  // A web page: it talks to the API, over HTTP.
  console: { ours: [], types: [], npm: ANY, node: false },
  stack: { ours: ['domain', 'database', 'config'], types: [], npm: ANY, node: true },
  cli: { ours: ALL_BUT_CONSOLE, types: [], npm: ANY, node: true },
  config: { ours: ['domain'], types: [], npm: ANY, node: true },

  // Outside src/. The roots are the processes; nothing in src/ imports any of these.
  roots: { ours: EVERYTHING, types: [], npm: ANY, node: true },
  bin: { ours: ['cli', 'stack'], types: [], npm: ANY, node: true },
  scripts: { ours: EVERYTHING, types: [], npm: ANY, node: true },
  test: {
    ours: [...EVERYTHING, 'roots', 'bin', 'scripts', 'bench', 'examples', 'tooling'],
    types: [],
    npm: ANY,
    node: true,
  },
  bench: { ours: [...EVERYTHING, 'roots', 'test'], types: [], npm: ANY, node: true },
  // What another service could write: it knows the client only.
  examples: { ours: ['client'], types: [], npm: ANY, node: true },
  tooling: { ours: ['test'], types: [], npm: ANY, node: true },
};

const ROOTS = ['server.ts', 'worker.ts', 'simulator.ts'];

/**
 * The place of a file, by its path from the project's root with `/`; null where the table knows none, which the rule
 * reports: a new folder of src/ is entered here first.
 *
 * @param {string} path
 * @returns {string | null}
 */
export function placeOf(path) {
  const [top = '', second = ''] = path.split('/');
  if (!path.includes('/')) return ROOTS.includes(path) ? 'roots' : 'tooling';
  if (top === 'lint') return 'tooling';
  const name = top === 'src' ? second.replace(/^config\.ts$/, 'config') : top;
  const insideSrc = EVERYTHING.includes(name);
  return Object.hasOwn(IMPORT_TABLE, name) && insideSrc === (top === 'src') ? name : null;
}

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

/** `npm run property -- --runs N --seed S`: the property of the money APIs, as often as asked; docs/proofs/property.md tells the result. */
const { values } = parseArgs({ options: { runs: { type: 'string' }, seed: { type: 'string' } } });
const env = {
  ...process.env,
  ...(values.runs === undefined ? {} : { PROPERTY_RUNS: values.runs }),
  ...(values.seed === undefined ? {} : { PROPERTY_SEED: values.seed }),
};
const command = ['node_modules/.bin/vitest', 'run', '--config', 'test/property/property.config.ts'];
process.exit(spawnSync(process.execPath, command, { env, stdio: 'inherit' }).status ?? 1);

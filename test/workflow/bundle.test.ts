import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// The bundler writes down whatever it refuses; here the refusal itself is looked at.
const silent = new DefaultLogger('ERROR', () => undefined);

const bundled = async (entry: string) =>
  (await bundleWorkflowCode({ workflowsPath: `${ROOT}${entry}`, logger: silent })).code;

/** The files that a bundle was made of, by the source map at its end. */
function sourcesOf(code: string): string[] {
  const map = /sourceMappingURL=data:application\/json;[^,]*;base64,(\S+)\s*$/.exec(code)?.[1];
  if (map === undefined) throw new Error('The bundle has no source map.');
  return (JSON.parse(Buffer.from(map, 'base64').toString()) as { sources: string[] }).sources;
}

/** The part of the SDK that runs in its sandbox, and what it brings along. */
const SDK = ['@temporalio/workflow', '@temporalio/common', 'nexus-rpc', 'ms', 'long'];
/** Where the SDK asks for a converter that we do not have. */
const NO_CONVERTER = /^ignored\|.*\|__temporal_custom_(payload|failure)_converter$/;

const ALLOWED = [
  `${ROOT}src/workflows/`,
  `${ROOT}src/domain/`,
  ...SDK.map((name) => `${ROOT}node_modules/${name}/`),
  // What the bundler writes itself.
  'webpack/',
];

function foreign(sources: readonly string[]): string[] {
  return sources.filter((file) => !NO_CONVERTER.test(file) && !ALLOWED.some((start) => file.startsWith(start)));
}

describe('the workflow bundle', () => {
  it('holds nothing but workflows/, domain/ and the SDK', async () => {
    const sources = sourcesOf(await bundled('src/workflows/index.ts'));
    expect(sources).toContain(`${ROOT}src/workflows/process-payment.ts`);
    expect(sources).toContain(`${ROOT}src/domain/keys.ts`);
    expect(foreign(sources)).toEqual([]);
  });

  it('could hold nothing else unseen: each of these would be named', () => {
    const others = [
      `${ROOT}src/database/pool.ts`,
      `${ROOT}src/activities/index.ts`,
      `${ROOT}src/telemetry/log.ts`,
      `${ROOT}test/support/engine.ts`,
      `${ROOT}node_modules/pg/lib/index.js`,
      `${ROOT}node_modules/zod/index.js`,
      `${ROOT}node_modules/@temporalio/client/lib/index.js`,
      `ignored|${ROOT}node_modules/pg/lib|dns`,
      'external node-commonjs "node:crypto"',
    ];
    expect(foreign(others)).toEqual(others);
  });

  it('cannot be made where a workflow reaches for the database, and so for Node', async () => {
    await expect(bundled('src/database/postgres-errors.ts')).rejects.toThrow(
      /disallowed modules[^]*'(net|dns|crypto)'/,
    );
  });
});

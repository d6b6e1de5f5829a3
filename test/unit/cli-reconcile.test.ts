import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reconcileCommand } from '../../src/cli/reconcile.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../support/scripted-server.ts';

const home = process.cwd();
let folder: string;
let api: ScriptedServer | undefined;
beforeEach(() => {
  // Where no stack runs that the command would work on.
  folder = mkdtempSync(join(tmpdir(), 'paidonce-reconcile-'));
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(home);
  rmSync(folder, { recursive: true, force: true });
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await api?.close();
});

const SEARCH = {
  ...{ workflow_id: 'find-missing-webhooks:sim', status: 'completed', listed: 2_000, found: 1, left: 0 },
  ...{ examples: ['evt_1'], unfinished: false, problem: null },
};

/** What the command prints where the API answers so about the search for webhooks that never came. */
async function printed(search: Partial<Record<keyof typeof SEARCH, unknown>>): Promise<string> {
  const restarted = { workflow_id: 'reconcile:sim', status: 'completed', checked: 3, restarted: 0, examples: [] };
  const data = [{ source: 'sim', ...restarted, missing_webhooks: { ...SEARCH, ...search } }];
  api = await startScriptedServer((_request, response) => sendJson(response, 200, { data }));
  vi.stubEnv('PAIDONCE_API_URL', api.url);
  vi.stubEnv('PAIDONCE_API_KEY', 'po_key');
  let out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  await reconcileCommand().parseAsync([], { from: 'user' });
  expect(api.requests).toMatchObject([{ method: 'POST', path: '/v1/reconcile' }]);
  return out;
}

describe('paidonce reconcile', () => {
  it('says what was found, and nothing of a list that came to its end', async () => {
    expect(await printed({})).toBe(
      'sim: 3 not over, 0 started again.\nsim: 2000 events listed at the gateway, 1 of them had never come.\n  evt_1\n',
    );
  });

  it('says of a list that did not come to its end that the next run goes on', async () => {
    expect(await printed({ unfinished: true })).toMatch(
      / {2}evt_1\n {2}The list goes on, and so does the next run\.\n$/,
    );
  });

  it('says how many more were found, and that the search is still under way, or what kept it from its end', async () => {
    expect(await printed({ found: 12, left: 4 })).toMatch(
      /12 of them had never come, 4 may still be on their way\.\n {2}evt_1\n {2}and 11 more\n$/,
    );
    await api?.close();
    expect(await printed({ status: 'running', listed: null })).toContain(
      'sim: still looking at the gateway; find-missing-webhooks:sim in Temporal tells how far it is.',
    );
    await api?.close();
    expect(await printed({ problem: 'The gateway refuses its own cursor.' })).toContain(
      'sim: The gateway refuses its own cursor.',
    );
  });
});

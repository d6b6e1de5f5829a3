import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CommandError } from '../../src/cli/command-error.ts';
import { tableOf } from '../../src/cli/output.ts';
import { apiAccess, databaseUrl, requireDevFile } from '../../src/cli/settings.ts';

const STACK = {
  api_url: 'http://127.0.0.1:1/',
  api_key: 'po_key',
  database_url: 'postgres://a@127.0.0.1:1/a',
  simulator_url: 'http://127.0.0.1:2',
  sources: { sim: { webhook_secret: 'whsec_x' } },
};

const home = process.cwd();
let folder: string;
let said: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paidonce-cli-'));
  said = '';
  process.chdir(folder);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  for (const name of ['DATABASE_URL', 'PAIDONCE_API_URL', 'PAIDONCE_API_KEY']) vi.stubEnv(name, '');
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.chdir(home);
  rmSync(folder, { recursive: true, force: true });
});

function runs(file: unknown): void {
  mkdirSync(join(folder, '.paidonce'));
  writeFileSync(join(folder, '.paidonce', 'dev.json'), typeof file === 'string' ? file : JSON.stringify(file));
}

describe('a command', () => {
  it('works on the stack that runs in this folder', () => {
    runs(STACK);
    expect(databaseUrl()).toBe(STACK.database_url);
    expect(apiAccess()).toEqual({ url: 'http://127.0.0.1:1', key: 'po_key' });
    expect(said).toBe('');
  });

  it('works on what the environment names where no stack runs', () => {
    vi.stubEnv('DATABASE_URL', 'postgres://b@db/b');
    vi.stubEnv('PAIDONCE_API_URL', 'https://payments.example/');
    vi.stubEnv('PAIDONCE_API_KEY', 'po_other');
    expect(databaseUrl()).toBe('postgres://b@db/b');
    expect(apiAccess()).toEqual({ url: 'https://payments.example', key: 'po_other' });
  });

  it('says so where the environment names another database than the one it works on', () => {
    runs(STACK);
    vi.stubEnv('DATABASE_URL', 'postgres://b@db/b');
    expect(databaseUrl()).toBe(STACK.database_url);
    expect(said).toContain('DATABASE_URL names another one and is not used');
    expect(said).not.toContain('postgres://');
  });

  it('says what to do where it knows neither', () => {
    expect(() => databaseUrl()).toThrow(
      new CommandError('Nothing says which database to use: run npm start in this folder, or set DATABASE_URL.'),
    );
    expect(() => requireDevFile()).toThrow(/run npm start in this folder first/);
  });

  it('says that a damaged file is damaged', () => {
    runs('{"api_url": ');
    expect(() => databaseUrl()).toThrow(/is damaged/);
  });
});

describe('a table', () => {
  it('is as wide as it needs to be', () => {
    expect(
      tableOf(
        ['what', 'n'],
        [
          ['a longer one', '1'],
          ['short', '100'],
        ],
        ['left', 'right'],
      ),
    ).toBe(['what            n', '────────────  ───', 'a longer one    1', 'short         100'].join('\n'));
  });
});

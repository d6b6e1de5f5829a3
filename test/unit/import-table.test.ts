import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

// The project's own configuration. The files of these tests exist in no program, so rules that need types are left out.
const eslint = new ESLint({ cwd: ROOT, overrideConfig: tseslint.configs.disableTypeChecked as never });
const typedEslint = new ESLint({ cwd: ROOT });

async function mistakesIn(file: string, code: string, linter = eslint): Promise<string[]> {
  const [result] = await linter.lintText(code, { filePath: path.join(ROOT, file) });
  return (result?.messages ?? [])
    .filter(({ severity }) => severity === 2)
    .map(({ ruleId, line }) => `${line} ${ruleId ?? 'parse'}`);
}

async function expectRefused(file: string, code: string, rule = 'paidonce/import-table'): Promise<void> {
  expect(await mistakesIn(file, code), `${file}: ${code}`).toContain(`1 ${rule}`);
}

async function expectAllowed(file: string, code: string): Promise<void> {
  expect(await mistakesIn(file, `${code}\n`), `${file}: ${code}`).not.toContain('1 paidonce/import-table');
}

// Written out a second time on purpose: loosening the table by accident turns this red.
const ALLOWED: Record<string, string[]> = {
  domain: [],
  workflows: ['domain'],
  activities: ['domain', 'database', 'gateways', 'notify', 'telemetry'],
  gateways: ['domain'],
  database: ['domain'],
  relay: ['domain', 'database', 'workflows/messages', 'telemetry'],
  notify: ['domain'],
  api: ['domain', 'database', 'gateways', 'relay', 'workflows/messages', 'telemetry'],
  client: ['domain', 'workflows/messages'],
  telemetry: ['domain'],
  console: [],
  stack: ['domain', 'database', 'config'],
  cli: [
    ...['domain', 'workflows', 'workflows/messages', 'activities', 'gateways', 'database', 'relay', 'notify', 'api'],
    ...['client', 'telemetry', 'stack', 'config'],
  ],
};
const PLACES = Object.keys(ALLOWED);
const TARGETS = [...PLACES, 'workflows/messages', 'config'];

const pathOf = (target: string) =>
  target === 'config' ? '../config.ts' : target.includes('/') ? `../${target}.ts` : `../${target}/x.ts`;

describe('the import table', () => {
  it.each(PLACES)('lets src/%s import what the table grants it and nothing else of ours', async (place) => {
    const others = TARGETS.filter((target) => target !== place && !target.startsWith(`${place}/`));
    const code = others.map((target) => `export * from '${pathOf(target)}';`).join('\n');
    const refused = (await mistakesIn(`src/${place}/seeded.ts`, code)).filter((mistake) =>
      mistake.endsWith('paidonce/import-table'),
    );
    const expected = others.flatMap((target, index) =>
      ALLOWED[place]?.includes(target) ? [] : [`${index + 1} paidonce/import-table`],
    );
    expect(refused).toEqual(expected);
  });

  it('sees every way to name a module', async () => {
    for (const code of [
      `import { x } from '../database/x.ts';`,
      `import type { X } from '../database/x.ts';`,
      `import '../database/x.ts';`,
      `export { x } from '../database/x.ts';`,
      `export type { X } from '../database/x.ts';`,
      `export * from '../database/x.ts';`,
      `export const x = await import('../database/x.ts');`,
      'export const x = await import(`../database/x.ts`);',
      `export type X = import('../database/x.ts').X;`,
      `export const x = require('../database/x.ts');`,
      `import x = require('../database/x.ts');`,
      `import { x } from '../../src/database/x.ts';`,
      `import { x } from 'paidonce/database';`,
    ]) {
      await expectRefused('src/domain/seeded.ts', code);
    }
  });

  it('refuses a module whose name cannot be read, a path out of the project, and one without its extension', async () => {
    await expectRefused('src/workflows/seeded.ts', 'export const load = (name: string) => import(name);');
    await expectRefused('src/api/seeded.ts', `import '../../../elsewhere/x.ts';`);
    await expectRefused('src/api/seeded.ts', `import '/srv/x.ts';`);
    await expectRefused('src/api/seeded.ts', `import '../domain/x.js';`);
    await expectRefused('src/api/seeded.ts', `import '../domain/x';`);
  });

  it('keeps pg for the database and Express for the API, types included', async () => {
    for (const place of ['activities', 'api', 'relay', 'stack', 'cli', 'gateways']) {
      await expectRefused(`src/${place}/seeded.ts`, `import pg from 'pg';`);
      await expectRefused(`src/${place}/seeded.ts`, `import type { Pool } from 'pg';`);
    }
    await expectRefused('server.ts', `import pg from 'pg';`);
    for (const file of ['src/gateways/simulator/seeded.ts', 'src/relay/seeded.ts', 'server.ts', 'simulator.ts']) {
      await expectRefused(file, `import express from 'express';`);
    }
    await expectAllowed('src/database/seeded.ts', `import pg from 'pg';`);
    await expectAllowed('src/api/routes/seeded.ts', `import express from 'express';`);
    await expectAllowed('test/database/seeded.test.ts', `import pg from 'pg';`);
  });

  it('keeps domain/ free of packages and of Node', async () => {
    await expectRefused('src/domain/seeded.ts', `import { z } from 'zod';`);
    await expectRefused('src/domain/seeded.ts', `import type { Duration } from '@temporalio/common';`);
    await expectRefused('src/domain/seeded.ts', `import { createHash } from 'node:crypto';`);
    await expectRefused('src/domain/seeded.ts', `import { createHash } from 'crypto';`);
  });

  it('keeps domain/ free of the clock, of chance and of the world', async () => {
    await expectRefused('src/domain/seeded.ts', 'export const now = Date.now();', 'no-restricted-properties');
    await expectRefused('src/domain/seeded.ts', 'export const { now } = Date;', 'no-restricted-properties');
    await expectRefused('src/domain/seeded.ts', 'export const now = new Date();', 'no-restricted-syntax');
    await expectRefused('src/domain/seeded.ts', 'export const now = Date();', 'no-restricted-syntax');
    await expectRefused('src/domain/seeded.ts', 'export const id = Math.random();', 'no-restricted-properties');
    await expectRefused('src/domain/seeded.ts', 'export const id = crypto.randomUUID();', 'no-restricted-globals');
    await expectRefused('src/domain/seeded.ts', 'export const port = process.env.PORT;', 'no-restricted-globals');
    expect(
      await mistakesIn('src/domain/seeded.ts', 'export const at = (ms: number) => new Date(ms).toISOString();'),
    ).toEqual([]);
    expect(await mistakesIn('src/api/seeded.ts', 'export const at = () => Date.now();')).toEqual([]);
  });

  it('lets workflows know the Temporal workflow API and the types of activities only', async () => {
    await expectAllowed('src/workflows/seeded.ts', `import { sleep } from '@temporalio/workflow';`);
    await expectAllowed('src/workflows/seeded.ts', `import type { Activities } from '../activities/index.ts';`);
    await expectRefused('src/workflows/seeded.ts', `import { createActivities } from '../activities/index.ts';`);
    await expectRefused(
      'src/workflows/seeded.ts',
      `import { type Activities, createActivities } from '../activities/index.ts';`,
    );
    await expectRefused('src/workflows/seeded.ts', `import { Client } from '@temporalio/client';`);
    await expectRefused('src/workflows/seeded.ts', `import { setTimeout } from 'node:timers/promises';`);
  });

  it('gives the configuration to the roots, the CLI and the stack only', async () => {
    for (const file of ['server.ts', 'worker.ts', 'simulator.ts'])
      await expectAllowed(file, `import { loadConfig } from './src/config.ts';`);
    for (const file of ['server.ts', 'src/cli/seeded.ts', 'src/stack/seeded.ts']) {
      await expectRefused(file, `import '${file.startsWith('src') ? '..' : './src'}/config/expand.ts';`);
    }
    await expectAllowed('src/config.ts', `import './config/expand.ts';`);
    await expectAllowed('src/config/seeded.ts', `import '../domain/policies.ts';`);
    await expectRefused('src/config.ts', `import './database/pool.ts';`);
  });

  it('keeps tests, tools and other services apart from the product', async () => {
    await expectRefused('src/cli/seeded.ts', `import '../../test/support/database.ts';`);
    await expectRefused('src/stack/seeded.ts', `import '../../server.ts';`);
    await expectRefused('examples/seeded.ts', `import '../src/database/pool.ts';`);
    await expectAllowed('examples/seeded.ts', `import '../src/client/index.ts';`);
    await expectAllowed('test/e2e/seeded.test.ts', `import '../../src/database/pool.ts';`);
  });

  it('knows every folder: a file outside the table is refused', async () => {
    await expectRefused('src/helpers/seeded.ts', 'export const x = 1;');
    await expectRefused('src/seeded.ts', 'export const x = 1;');
    await expectRefused('domain/seeded.ts', 'export const x = 1;');
    await expectRefused('src/test/seeded.ts', 'export const x = 1;');
    await expectRefused('src/cli/seeded.ts', `import '../helpers/x.ts';`);
  });
});

describe('the limits of the linter are switched on', () => {
  it('a file of more than 400 lines is an error', async () => {
    expect(await mistakesIn('src/api/seeded.ts', '// \n'.repeat(400))).toEqual([]);
    expect(await mistakesIn('src/api/seeded.ts', '// \n'.repeat(401))).toEqual(['401 max-lines']);
  });

  it('a promise nobody waits for, and a switch that forgets a member, are errors', async () => {
    const code = `async function f() { await Promise.resolve(); }
      f();
      export const g = (x: 'a' | 'b') => { switch (x) { case 'a': return 1; } return 0; };`;
    const mistakes = await mistakesIn('src/domain/policies.ts', code, typedEslint);
    expect(mistakes).toContain('2 @typescript-eslint/no-floating-promises');
    expect(mistakes).toContain('3 @typescript-eslint/switch-exhaustiveness-check');
    // The linter loads the whole program once for this one.
  }, 60_000);

  it('no comment switches off the import table or the length of files', () => {
    const switchedOff = sourceFiles(ROOT).filter((file) =>
      /eslint-disable(-next-line|-line)?(\s*(\*\/|--|$)|.*(max-lines|import-table))/m.test(
        readFileSync(path.join(ROOT, file), 'utf8'),
      ),
    );
    expect(switchedOff).toEqual(['test/unit/import-table.test.ts']);
  });
});

function sourceFiles(root: string): string[] {
  const tops = ['src', 'test', 'bin', 'scripts', 'bench', 'examples', 'lint'];
  return readdirSync(root, { withFileTypes: true }).flatMap((top) => {
    if (top.isFile()) return /\.(ts|mjs)$/.test(top.name) ? [top.name] : [];
    if (!tops.includes(top.name)) return [];
    const names = readdirSync(path.join(root, top.name), { recursive: true, encoding: 'utf8' });
    return names.filter((name) => /\.(ts|tsx|mjs)$/.test(name)).map((name) => `${top.name}/${name}`);
  });
}

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checksOf } from '../../src/database/audit.ts';

const file = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const page = file('docs/guarantees.md');
/** The row of a promise. */
const row = (number: string) => page.split('\n').find((line) => line.startsWith(`| ${number} |`)) ?? '';

describe('docs/guarantees.md', () => {
  it('has a row for every promise', () => {
    const counts = { A: 8, B: 7, C: 4, D: 2, E: 7, F: 5, G: 3, H: 3 };
    const numbers = Object.entries(counts).flatMap(([letter, n]) =>
      Array.from({ length: n }, (_, i) => `${letter}${i + 1}`),
    );
    expect(numbers.filter((number) => row(number) === '')).toEqual([]);
  });

  it('names tests that exist', () => {
    const named = [...page.matchAll(/`([a-z0-9]+\/[\w.-]+\.test\.ts)`((?: “[^”]+”)+)/g)].flatMap(
      ([, path = '', names = '']) =>
        [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => ({ path: `test/${path}`, name })),
    );
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter(({ path, name }) => !file(path).includes(name))).toEqual([]);
  });

  it('names every invariant of the audit beside the promise that it belongs to', () => {
    const missing = checksOf([]).filter(({ invariant, requirement }) => !row(requirement).includes(`\`${invariant}\``));
    expect(missing.map(({ invariant, requirement }) => `${requirement} ${invariant}`)).toEqual([]);
  });
});

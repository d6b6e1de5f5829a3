import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { importTableRule } from './lint/import-table-rule.mjs';

/** What every file keeps to: the mistakes that a compiler does not see. */
const everywhere = {
  'array-callback-return': 'error',
  // `== null` is the one comparison where both of two values are meant.
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  // Promised and kept: a file beyond this is where a reader gets lost. Blank lines and comments count.
  'max-lines': ['error', { max: 400 }],
  'no-async-promise-executor': 'error',
  'no-cond-assign': 'error',
  'no-constant-condition': ['error', { checkLoops: false }],
  'no-debugger': 'error',
  'no-dupe-else-if': 'error',
  'no-duplicate-case': 'error',
  'no-empty': 'error',
  'no-eval': 'error',
  'no-loss-of-precision': 'error',
  'no-misleading-character-class': 'error',
  'no-self-assign': 'error',
  'no-self-compare': 'error',
  'no-sparse-arrays': 'error',
  'no-unreachable-loop': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-useless-catch': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'use-isnan': 'error',
  'valid-typeof': 'error',
  'paidonce/import-table': 'error',
};

const typeChecked = {
  '@typescript-eslint/no-deprecated': 'error',
  '@typescript-eslint/no-import-type-side-effects': 'error',
  '@typescript-eslint/no-misused-spread': 'error',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
  '@typescript-eslint/require-array-sort-compare': 'error',
  '@typescript-eslint/restrict-template-expressions': [
    'error',
    {
      allowNumber: true,
      allowBoolean: true,
      allow: [
        { from: 'lib', name: ['Error', 'URL', 'URLSearchParams'] },
        { from: 'package', package: 'node:url', name: ['URL', 'URLSearchParams'] },
      ],
    },
  ],
  // Outside try it changes nothing but a stack trace; inside, a missing await skips the catch.
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  // A default clause is a decision; a switch without one must name every member.
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  // An interface may ask for a promise that an implementation need not wait for.
  '@typescript-eslint/require-await': 'off',
};

const noClock = 'domain/ is pure: take the time as an argument.';
const noChance = 'domain/ is pure: take what is random as an argument.';
const noWorld = 'domain/ is pure: it reaches nothing outside its arguments.';

/** Names through which a pure function could reach the world without an import. */
const worldlyGlobals = [
  ...['Buffer', 'console', 'fetch', 'global', 'globalThis', 'process', 'require'],
  ...['queueMicrotask', 'setImmediate', 'setInterval', 'setTimeout'],
];

const pure = {
  'no-restricted-globals': [
    'error',
    ...worldlyGlobals.map((name) => ({ name, message: noWorld })),
    { name: 'performance', message: noClock },
    { name: 'crypto', message: noChance },
  ],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: noClock },
    { object: 'Math', property: 'random', message: noChance },
  ],
  'no-restricted-syntax': [
    'error',
    { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: noClock },
    { selector: 'CallExpression[callee.name="Date"]', message: noClock },
  ],
};

/** Answers of servers are read as they come in tests, and a wrong guess fails the test by itself. */
const testsRead = {
  '@typescript-eslint/no-explicit-any': 'off',
  '@typescript-eslint/no-unsafe-argument': 'off',
  '@typescript-eslint/no-unsafe-assignment': 'off',
  '@typescript-eslint/no-unsafe-call': 'off',
  '@typescript-eslint/no-unsafe-member-access': 'off',
  '@typescript-eslint/no-unsafe-return': 'off',
  '@typescript-eslint/unbound-method': 'off',
};

const nodeGlobals = [
  ...['AbortController', 'AbortSignal', 'Buffer', 'clearInterval', 'clearTimeout', 'console', 'fetch', 'performance'],
  ...['process', 'setImmediate', 'setInterval', 'setTimeout', 'TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams'],
];

export default defineConfig(
  { ignores: ['node_modules/', 'dist/', 'coverage/', '.paidonce/'] },
  {
    files: ['**/*.{ts,tsx,mjs,js}'],
    plugins: { paidonce: { rules: { 'import-table': importTableRule } } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: everywhere,
  },
  {
    files: ['**/*.{mjs,js}'],
    languageOptions: { globals: Object.fromEntries(nodeGlobals.map((name) => [name, 'readonly'])) },
    rules: { 'no-undef': 'error', 'no-unused-vars': ['error', { argsIgnorePattern: '^_' }] },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: typeChecked,
  },
  { files: ['src/domain/**'], rules: pure },
  { files: ['test/**', 'bench/**', 'examples/**'], rules: testsRead },
);

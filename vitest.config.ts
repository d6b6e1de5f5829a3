import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/support/count-reporter.ts'],
    globalSetup: ['test/support/services.ts'],
    setupFiles: ['test/support/end-with-run.ts'],
    // Processes, not threads: Temporal's native worker and signals belong to a process.
    pool: 'forks',
    // Two files at once use two cores; more of them starve PostgreSQL and Temporal, and tests fail by waiting.
    maxWorkers: 2,
    // A workflow with real services takes seconds on a busy machine; a test that hangs must still end.
    testTimeout: 30_000,
    // The first file that asks for a service starts it, and on a new machine that fetches it.
    hookTimeout: 300_000,
    teardownTimeout: 30_000,
    // Where nobody looks on, a second try tells a slow machine from a broken promise; the first failure is still printed.
    retry: process.env['CI'] === undefined ? 0 : 1,
  },
});

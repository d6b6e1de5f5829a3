import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Writes `N passed, N failed` into the file that PAIDONCE_TEST_COUNT names, for the last line of `npm test`. A file that
 * could not be run and an error outside every test count as failed, too: neither may look like a green run.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const file = process.env['PAIDONCE_TEST_COUNT'];
    if (file === undefined) return;
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'pending') count.failed += 1;
        else count[state] += 1;
        tests += 1;
      }
      if (!module.ok() && (tests === 0 || module.errors().length > 0)) count.failed += 1;
    }
    const skipped = count.skipped === 0 ? '' : `, ${String(count.skipped)} skipped`;
    writeFileSync(file, `${String(count.passed)} passed, ${String(count.failed)} failed${skipped}`);
  }
}

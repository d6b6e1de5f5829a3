import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** `npm run crashes` goes through every step of everything: too long for each change, and it needs what tests need. */
export default defineConfig({
  test: {
    ...base.test,
    include: ['test/crash/crashes.ts'],
    retry: 0,
  },
});

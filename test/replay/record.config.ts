import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** `npm run record` is no test, but it needs what tests need: a PostgreSQL and a Temporal of its own. */
export default defineConfig({ test: { ...base.test, include: ['test/replay/record.ts'], testTimeout: 120_000 } });

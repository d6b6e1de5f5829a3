import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** `npm run property` plays as long as it is asked to, and needs what tests need. */
export default defineConfig({ test: { ...base.test, include: ['test/property/property.ts'], retry: 0 } });

#!/usr/bin/env node
// `npm start`: PostgreSQL, Temporal, API, worker and simulator, by one command.
import { prepare } from './prepare.mjs';

prepare();
// Until the start itself listens, there is nothing to end but us.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(0));
const { register } = await import('tsx/esm/api');
register();
await import('../src/stack/start.ts');

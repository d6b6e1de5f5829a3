#!/usr/bin/env node
// `npx paidonce …`: the command line.
import { prepare } from './prepare.mjs';

prepare();
const { register } = await import('tsx/esm/api');
register();
await import('../src/cli/main.ts');

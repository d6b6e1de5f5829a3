import { cpSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

/** `npm run build`, after the compiler: bundles the workflows beside worker.js, and puts the migrations where the built code looks. */
const project = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const { code } = await bundleWorkflowCode({ workflowsPath: project('src/workflows/index.ts') });
writeFileSync(project('dist/workflows.cjs'), code);
cpSync(project('migrations'), project('dist/migrations'), { recursive: true });

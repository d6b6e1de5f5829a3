// Threads inherit what their process preloads, without what reads TypeScript; they take no step towards the outside.
import { isMainThread } from 'node:worker_threads';

if (isMainThread) await import('./count-steps.ts');

import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { stateMachinesText } from './state-machines-text.ts';

/** `npm run docs:states`: writes docs/state-machines.md from the tables. */
const FILE = fileURLToPath(new URL('../docs/state-machines.md', import.meta.url));

await writeFile(FILE, stateMachinesText());
process.stdout.write(`${FILE}\n`);

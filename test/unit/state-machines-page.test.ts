import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { stateMachinesText } from '../../scripts/state-machines-text.ts';
import { STATE_MACHINES } from '../../src/domain/state-machines.ts';

const committed = () => readFile(new URL('../../docs/state-machines.md', import.meta.url), 'utf8');

it('docs/state-machines.md is what the tables say; where it is not, `npm run docs:states` writes it anew', async () => {
  expect(await committed()).toBe(stateMachinesText());
});

it('docs/state-machines.md shows every state and every transition of every machine', async () => {
  const page = await committed();
  for (const machine of Object.values(STATE_MACHINES)) {
    const [, after = ''] = page.split(`## ${machine.name}\n`);
    const [section = ''] = after.split('\n## ');
    for (const state of Object.keys(machine.states)) expect(section).toContain(`| \`${state}\` |`);
    for (const { name, from, to } of machine.transitions) {
      for (const state of from) expect(section).toContain(`  ${state} --> ${to}: ${name}\n`);
    }
  }
});

import { statesOf, type StateMachine, type StateTransition } from '../src/domain/state-machine.ts';
import { STATE_MACHINES } from '../src/domain/state-machines.ts';

const HEAD = `# State machines

Written by \`npm run docs:states\` from the tables in \`src/domain\`, never by hand; a test keeps it current. Whatever changes a
state is refused unless its table has the transition, and \`npx paidonce audit\` holds the written history against the same tables.
`;

/** The text of docs/state-machines.md. */
export function stateMachinesText(): string {
  return [HEAD, ...Object.values(STATE_MACHINES).map(machineText)].join('\n');
}

function machineText(machine: StateMachine): string {
  const { name, about, states, begins, finals, skips, transitions } = machine;
  const rows = statesOf(machine).map((state) => {
    const end = finals.includes(state) ? ' An end.' : '';
    return `| \`${state}\` | ${states[state] ?? ''}${end} |`;
  });
  return `## ${name}

${about}${skips ? ' One look may find that several steps happened since the last, and is written as one.' : ''}

\`\`\`mermaid
stateDiagram-v2
${begins.map((state) => `  [*] --> ${state}`).join('\n')}
${transitions.flatMap((t) => t.from.map((from) => `  ${from} --> ${t.to}: ${t.name}`)).join('\n')}
${finals.map((state) => `  ${state} --> [*]`).join('\n')}
\`\`\`

| state | what it means |
|---|---|
${rows.join('\n')}

| transition | from | to | because |
|---|---|---|---|
${transitions.map(transitionRow).join('\n')}
`;
}

function transitionRow({ name, from, to, because, decided }: StateTransition): string {
  const person = decided === true ? ' Never by the machine.' : '';
  return `| ${name} | ${from.map((state) => `\`${state}\``).join(' ')} | \`${to}\` | ${because}${person} |`;
}

import { Command } from 'commander';
import { runAudit, type AuditReport, type Violation } from '../database/audit.ts';
import { EXIT } from './command-error.ts';
import { loyaltyRate } from './loyalty-rate.ts';
import { print, printJson } from './output.ts';
import { databaseUrl } from './settings.ts';
import { describeDatabase, withPool } from './with-pool.ts';

export function auditCommand(): Command {
  return new Command('audit')
    .description('check every promise on the database and name each violation; exit 0 only where there is none')
    .option('--json', 'answer as JSON')
    .action(async ({ json = false }: { json?: boolean }) => {
      const url = databaseUrl();
      const report = await withPool(url, (pool) => runAudit(pool, { loyaltyPointsPerMajorUnit: loyaltyRate(url) }));
      if (json) printJson(report);
      else print(auditText(report, describeDatabase(url)));
      if (!report.ok) process.exitCode = EXIT.no;
    });
}

function auditText({ ok, checked, violations }: AuditReport, where: string): string {
  if (ok) return `All ${checked} invariants hold in ${where}.`;
  const broken = [...new Set(violations.map(({ invariant }) => invariant))];
  return [
    `${violations.length} violations of ${broken.length} of ${checked} invariants in ${where}.`,
    ...broken.flatMap((invariant) => {
      const found = violations.filter((violation) => violation.invariant === invariant);
      return [
        '',
        `${invariant} (${found[0]?.requirement ?? ''}): ${found[0]?.promise ?? ''}`,
        ...found.map(violationLine),
      ];
    }),
  ].join('\n');
}

function violationLine({
  invariant: _invariant,
  requirement: _requirement,
  promise: _promise,
  detail,
  ...ids
}: Violation): string {
  const names = Object.entries(ids).map(([name, id]) => `${name} ${String(id)}`);
  return `  - ${[...names, detail].join(', ')}`;
}

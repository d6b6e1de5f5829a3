import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const MODULES = ['count-steps', 'step-counter', 'count-statements', 'count-gateway-calls', 'count-temporal-calls'];
const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  rewriteRelativeImportExtensions: true,
};

/** The module that counts and kills, for processes that read TypeScript, or compiled beside the built product. */
export function preloadPath(built: boolean): string {
  if (!built) return fileURLToPath(new URL('preload.mjs', import.meta.url));
  const folder = fileURLToPath(new URL('../../../dist/crash/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  for (const name of MODULES) {
    const source = readFileSync(new URL(`${name}.ts`, import.meta.url), 'utf8');
    writeFileSync(`${folder}${name}.js`, ts.transpileModule(source, { compilerOptions: OPTIONS }).outputText);
  }
  return `${folder}count-steps.js`;
}

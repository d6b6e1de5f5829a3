import { isBuiltin } from 'node:module';
import path from 'node:path';
import { ANY, EXCLUSIVE_PACKAGES, IMPORT_TABLE, placeOf } from './import-table.mjs';

const OURSELVES = 'paidonce';

/** What stands in the way of importing `target` (a path from the project's root) from `place`; null: nothing. */
function oursMistake(place, target, typeOnly) {
  if (target.startsWith('..')) return `${target} lies outside the project`;
  const targetPlace = placeOf(target);
  if (targetPlace === null) return `${target} lies in no place of lint/import-table.mjs`;
  const inner = target.startsWith('src/config/');
  if (inner && place !== 'config' && place !== 'test')
    return 'the parts of src/config/ are reached through src/config.ts';
  const { ours, types } = IMPORT_TABLE[place];
  if (targetPlace === place || ours.includes(targetPlace)) return null;
  if (ours.some((allowed) => isModule(target, `src/${allowed}`))) return null;
  if (types.includes(targetPlace)) return typeOnly ? null : `${place} may import ${targetPlace} by "import type" only`;
  return `${place} may not import ${targetPlace} (allowed: ${[...ours, ...types].join(', ') || 'nothing of ours'})`;
}

function isModule(target, module) {
  return target === `${module}.ts` || target.startsWith(`${module}/`);
}

function packageMistake(place, name) {
  const keepers = Object.hasOwn(EXCLUSIVE_PACKAGES, name) ? EXCLUSIVE_PACKAGES[name] : null;
  if (keepers !== null && !keepers.includes(place)) return `the package ${name} is kept for ${keepers.join(', ')}`;
  const { npm } = IMPORT_TABLE[place];
  if (npm === ANY || npm.includes(name)) return null;
  return `${place} may not import the package ${name} (allowed: ${npm.join(', ') || 'no package'})`;
}

function mistakeOf({ place, file, root, specifier, typeOnly }) {
  if (specifier.startsWith('.')) {
    if (!/\.(ts|mjs|json)$/.test(specifier)) return 'a relative import ends in .ts (or .mjs, .json)';
    const target = path.relative(root, path.resolve(path.dirname(file), specifier));
    return oursMistake(place, target.split(path.sep).join('/'), typeOnly);
  }
  if (specifier.startsWith('/') || specifier.startsWith('file:') || specifier.startsWith('#')) {
    return 'import by a relative path or a package name';
  }
  if (isBuiltin(specifier)) {
    return IMPORT_TABLE[place].node ? null : `${place} may not import ${specifier}: it must run without Node`;
  }
  const parts = specifier.split('/');
  if (parts[0] === OURSELVES)
    return oursMistake(place, `src/${parts.slice(1).join('/') || 'client'}/index.ts`, typeOnly);
  return packageMistake(place, parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/'));
}

/** The text of a module's name where it is plain; null where it is computed. */
function plainText(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TSLiteralType') return plainText(node.literal);
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked;
  return null;
}

/** An ESLint rule: every way to name another module obeys the import table. */
export const importTableRule = {
  meta: { type: 'problem', schema: [], docs: { description: 'Hold imports to lint/import-table.mjs' } },
  create(context) {
    const file = context.filename;
    const place = placeOf(path.relative(context.cwd, file).split(path.sep).join('/'));
    const report = (node, mistake) => context.report({ node, message: `Import table: ${mistake}.` });
    if (place === null) {
      return {
        Program: (node) => report(node, 'this file lies in no place of lint/import-table.mjs; enter its folder there'),
      };
    }
    const check = (node, source, typeOnly) => {
      if (!source) return;
      const specifier = plainText(source);
      // Tools and tests load what they are told to; product code whose imports cannot be read cannot be held to a table.
      if (specifier === null) {
        if (!IMPORT_TABLE[place].node) report(node, `${place} may not import a computed name`);
        return;
      }
      const mistake = mistakeOf({ place, file, root: context.cwd, specifier, typeOnly });
      if (mistake !== null) report(node, mistake);
    };
    return {
      ImportDeclaration: (node) => check(node, node.source, node.importKind === 'type'),
      ExportNamedDeclaration: (node) => check(node, node.source, node.exportKind === 'type'),
      ExportAllDeclaration: (node) => check(node, node.source, node.exportKind === 'type'),
      ImportExpression: (node) => check(node, node.source, false),
      TSImportType: (node) => check(node, node.source ?? node.argument, true),
      TSExternalModuleReference: (node) => check(node, node.expression, false),
      'CallExpression[callee.name="require"], CallExpression[callee.object.name="require"][callee.property.name="resolve"]':
        (node) => check(node, node.arguments[0], false),
    };
  },
};

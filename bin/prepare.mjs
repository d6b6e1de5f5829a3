// What every command does first, without a dependency: a Node that is new enough, and the packages of the lock file.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('..', import.meta.url));

// The oldest that has what the packages in package.json ask for ("engines" says the same).
const OLDEST = [20, 19];

/**
 * Makes the project ready to run, or ends the process with one sentence. Output goes to standard error: standard output
 * belongs to the command's own answer.
 *
 * @param {{ withDevelopment?: boolean }} [needs] whether what only development needs must be there, too
 */
export function prepare({ withDevelopment = false } = {}) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    giveUp(`paidonce needs Node ${OLDEST.join('.')} or newer, and this is ${process.versions.node}.`);
  }
  if (process.platform === 'win32') giveUp('On Windows, run paidonce inside WSL: it needs POSIX process groups.');
  // As a package among others it has no lock file, and whoever installed it installed what it needs.
  if (!existsSync(join(PROJECT, 'package-lock.json'))) return;
  if (!isInstalled(withDevelopment)) install(withDevelopment);
  linkCommand();
}

/** Whether node_modules holds what the lock file names, by npm's own record: file times tell nothing after a checkout. */
function isInstalled(withDevelopment) {
  const wanted = readPackages(join(PROJECT, 'package-lock.json'));
  const present = readPackages(join(PROJECT, 'node_modules', '.package-lock.json'));
  if (wanted === null || present === null) return false;
  return Object.entries(wanted).every(([path, { version, optional, dev, devOptional }]) => {
    if (path === '') return true;
    const here = present[path];
    if (here !== undefined) return here.version === version;
    return optional === true || (!withDevelopment && (dev === true || devOptional === true));
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

function install(withDevelopment) {
  process.stderr.write('Installing the packages of package-lock.json (npm ci) …\n');
  // Under npm its own program is used again; alone, the one on PATH.
  const npm = process.env.npm_execpath;
  const [command, args] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const done = spawnSync(command, [...args, 'ci', ...(withDevelopment ? ['--include=dev'] : [])], {
    cwd: PROJECT,
    stdio: ['ignore', 2, 2],
  });
  if (done.error !== undefined) giveUp(`npm could not be run to install what is missing: ${done.error.message}.`);
  if (done.status !== 0) giveUp('npm ci could not install what is missing; npm says why above.');
}

/** npx looks for a command there; npm makes such links for packages only, not for the project itself. */
function linkCommand() {
  const link = join(PROJECT, 'node_modules', '.bin', 'paidonce');
  const target = '../../bin/paidonce.mjs';
  try {
    if (readlinkOrNull(link) === target) return;
    rmSync(link, { force: true });
    symlinkSync(target, link);
  } catch {
    // A folder that is not ours to write to: everything else works, and `node bin/paidonce.mjs` does the same.
  }
}

function readlinkOrNull(link) {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

function giveUp(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

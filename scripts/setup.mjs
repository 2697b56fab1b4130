/**
 * Makes a fresh clone ready: checks Node, then installs what is missing.
 *
 * Runs before `npm start`, which has it `--without-tests`, and before `npm test`, also when nothing
 * is installed yet, so it imports nothing but Node. It says what it installs and why before it does,
 * touches nothing that is already there, and is done in a few milliseconds then.
 *
 * ESCAPEMENT_NO_INSTALL=1  install nothing, only say what is missing
 * CI=true                  something missing that cannot be installed is a failure
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCKFILE = `${ROOT}package-lock.json`;
const STAMP = `${ROOT}node_modules/.escapement-lockfile-hash`;
const NPM_RECORD = `${ROOT}node_modules/.package-lock.json`;

/**
 * What a clone needs. A part is installed by a `command` of its own or, when it
 * has `debianPackages`, by apt-get where this runs as root on a Debian system.
 * Nothing works without a `required` part; the others cost only the tests that use them.
 */
const PARTS = [
  {
    name: 'node modules',
    why: 'the runtime needs xstate and nanoid; building and testing need the rest',
    size: 'about 200 MB',
    required: true,
    isPresent: areModulesCurrent,
    command: npmCommand(['ci', '--ignore-scripts', '--no-audit', '--no-fund']),
    installed: stampModules,
  },
  {
    name: 'strace',
    why: 'tests trace the system calls of a commit, and make some of them fail',
    size: 'about 2 MB',
    required: false,
    // There is none for other systems, and those tests are skipped there.
    isPresent: () => process.platform !== 'linux' || isOnPath('strace'),
    debianPackages: ['strace'],
  },
  {
    name: 'zsh and fish',
    why: 'tests have these shells read the completion that is written for them',
    size: 'about 30 MB',
    required: false,
    isPresent: () => process.platform === 'win32' || (isOnPath('zsh') && isOnPath('fish')),
    debianPackages: ['zsh', 'fish'],
  },
  {
    name: 'chromium',
    why: "tests open the inspector's page in a real browser",
    size: 'about 400 MB',
    required: false,
    isPresent: () =>
      ['chromium', 'chromium-browser', 'google-chrome'].some(isOnPath) ||
      process.platform !== 'linux',
    debianPackages: ['chromium'],
  },
];

process.exitCode = main();

function main() {
  const range = readJson(`${ROOT}package.json`).engines.node;
  if (!isNodeInRange(process.versions.node, range)) {
    report(`Escapement needs Node ${range}, this is ${process.versions.node}.`);
    return 1;
  }
  const isForTests = !process.argv.includes('--without-tests');
  const parts = PARTS.filter(({ required }) => required || isForTests);
  // Every part is tried, so that one run tells everything that is missing.
  return Math.max(0, ...parts.map(ensure));
}

/** Returns the exit code this part asks for. */
function ensure(part) {
  if (part.isPresent()) return 0;
  const codeWhenMissing = process.env.CI === 'true' ? 1 : 0;
  if (process.env.ESCAPEMENT_NO_INSTALL === '1') {
    report(
      `Missing or outdated: ${part.name} (${part.why}). ESCAPEMENT_NO_INSTALL=1, not installing.`,
    );
    return codeWhenMissing;
  }
  const commands = part.command ? [part.command] : debianCommands(part.debianPackages);
  if (commands.length === 0) {
    report(`Missing: ${part.name} (${part.why}). Install it by hand: ${part.debianPackages}.`);
    return codeWhenMissing;
  }
  report(`Installing ${part.name} (${part.size}): ${part.why}.`);
  for (const command of commands) {
    report(`  ${command.shown}`);
    const { status, error } = spawnSync(command.file, command.args, {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status === 0) continue;
    report(`Could not install ${part.name}: ${error?.message ?? `exit code ${status}`}.`);
    return part.required ? 1 : codeWhenMissing;
  }
  part.installed?.();
  return 0;
}

function isOnPath(program) {
  const folders = (process.env.PATH ?? '').split(':');
  return folders.some((folder) => existsSync(`${folder}/${program}`));
}

function areModulesCurrent() {
  if (!existsSync(NPM_RECORD)) return false;
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lockfileHash()) return true;
  // Somebody ran npm themselves: believe npm's own record of what it installed.
  const wanted = readJson(LOCKFILE).packages;
  const actual = readJson(NPM_RECORD).packages;
  const isCurrent = Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || optional || actual[path]?.version === version,
  );
  if (isCurrent) stampModules();
  return isCurrent;
}

function stampModules() {
  writeFileSync(STAMP, lockfileHash());
}

function lockfileHash() {
  return createHash('sha256').update(readFileSync(LOCKFILE)).digest('hex');
}

/** The npm that runs this script, or the one on the path. */
function npmCommand(args) {
  const shown = `npm ${args.join(' ')}`;
  const npmCli = process.env.npm_execpath;
  if (npmCli?.endsWith('npm-cli.js')) {
    return { file: process.execPath, args: [npmCli, ...args], shown };
  }
  return { file: 'npm', args, shown };
}

/** Empty where packages cannot be installed: not Debian, or not root. */
function debianCommands(packages) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return [];
  const install = ['install', '-y', '--no-install-recommends', ...packages];
  return [['update'], install].map((args) => ({
    file: '/usr/bin/apt-get',
    args,
    shown: `apt-get ${args.join(' ')}`,
  }));
}

/** Understands what package.json uses: `^a.b.c` and `>=a.b.c`, joined by `||`. */
function isNodeInRange(version, range) {
  const actual = version.split('.').map(Number);
  return range.split('||').some((part) => {
    const [, operator, numbers] = /^\s*(\^|>=)([\d.]+)\s*$/.exec(part) ?? [];
    if (numbers === undefined) throw new Error(`Cannot read the Node range "${range}".`);
    const least = numbers.split('.').map(Number);
    if (operator === '^' && actual[0] !== least[0]) return false;
    const differs = least.findIndex((number, index) => number !== actual[index]);
    return differs === -1 || actual[differs] > least[differs];
  });
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** On stderr, so that what a command prints on stdout stays clean. */
function report(line) {
  process.stderr.write(`${line}\n`);
}

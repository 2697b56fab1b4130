/**
 * House rules that the linter cannot express, checked by reading the sources.
 *
 * Every rule lists what breaks it, so a failing test names the files and lines to
 * change. The length of functions, the naming of files and the walls between the
 * folders are in biome.json.
 */

import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderOf, listProjectFiles, readProjectFile } from './project-files.ts';

const LINES_MAX = 300;

/** Folders whose code may run in a simulation: no clock, no chance, no environment of its own. */
const PURE_FOLDERS = new Set(['machines', 'runtime', 'programs', 'reading', 'simulator', 'stores']);
const SOURCE_FOLDERS = new Set([
  ...PURE_FOLDERS,
  '',
  'transports',
  'telemetry',
  'http',
  'inspector',
  'cli',
]);

const SYSTEM_ADAPTERS = new Set(['runtime/system/clock.ts', 'runtime/system/random.ts']);
const HIDDEN_INPUT =
  /\bnew Date\b|\bDate\.now\b|\bMath\.random\b|\bcrypto\.(randomUUID|getRandomValues|randomBytes)\b|\bprocess\.(env|hrtime)\b|\bglobalThis\s*[.[]/;

/** The files that may run XState. Any other source file may import its types. */
const XSTATE_SEAM =
  /^(runtime\/(statechart\/[a-z-]+|machine|effects\/children)|simulator\/jobs\/book-machine)\.ts$/;
const XSTATE_IMPORT =
  /\b(?:import|export)\s+(type\s+)?([^;'"]*?)\s*from\s*['"]xstate(?:\/[^'"]*)?['"]|\bimport\s*\(?\s*['"]xstate(?:\/[^'"]*)?['"]/g;

const EMPTY_NAMES = new Set(
  'util utils helper helpers common misc type types data info process service handler shared interface interfaces enum enums class classes'.split(
    ' ',
  ),
);
const EMPTY_WORDS = /(^|-)(utils?|helpers?|common|misc)(-|$)/;

/** A header begins with the noun or verb that a reader would search for. */
const QUESTION_WORD =
  /^\/\*\*[\s*]*(What|How|Who|Whom|Whose|Whether|Which|Where|When|Why|After|Before|By|For|From|In|Of|That|With)(?= )/;

/** Words for which the field has plainer ones; written in parts, so that this list is none of them. */
const PRIVATE_WORDS = new RegExp(
  [
    'who(?:m)?ever',
    '(?<!-)an' + 'ew',
    'what (?:became|becomes) of',
    'so ' + 'many',
    'parted ' + 'from',
    'the one ' + 'that',
    '(?:an?|the) de' + 'sk',
    'board of ' + 'leases',
  ]
    .map((words) => `\\b${words}\\b`)
    .join('|'),
  'i',
);
/** Folders that serve any system: what they need to know of one is told them. */
const GENERIC =
  /^(create-runtime\.ts$|(?:reading|runtime|stores|telemetry|transports)\/|simulator\/(?!index\.ts$|jobs(?:\.ts$|\/)))/;
/** Roles and facts of the jobs system, alone or as a part of a name. */
const OF_JOBS = 'job|workflow|gate|manager|worker|datacenter|heartbeat|submission';
const JOBS_WORDS = new RegExp(
  `(?<![A-Za-z])(?:${OF_JOBS})s?(?![a-z])|(?:${OF_JOBS.replace(/(?<=^|\|)./g, (letter) => letter.toUpperCase())})s?(?![a-z])`,
);
/** Files of the project, and what Node calls its threads and processes. */
const NOT_OF_JOBS =
  /\b(?:test|machines|programs)\/[\w./-]+|worker_?threads|'Worker'|cluster worker|workers of one process/gi;

/** Where a checkout lives is nobody else's business. */
const MACHINE_PATH = new RegExp(`(?<![\\w.-])/(${['work', 'root', 'home'].join('|')})/`);

const files = listProjectFiles();
const code = files.filter((path) => /\.(tsx?|mjs)$/.test(path));
const source = code.filter((path) => /\.tsx?$/.test(path) && SOURCE_FOLDERS.has(folderOf(path)));

describe('every source file', () => {
  test('starts with a header that says what it is', () => {
    expect(source.filter((path) => !readProjectFile(path).startsWith('/**'))).toEqual([]);
  });

  test('begins its header with what it is, and with no question', () => {
    const asked = code.filter((path) => QUESTION_WORD.test(readProjectFile(path)));
    expect(asked).toEqual([]);
  });

  test('has a name that says something', () => {
    const isEmpty = (name: string) => EMPTY_NAMES.has(name) || EMPTY_WORDS.test(name);
    const broken = code.filter((path) => {
      const [file = '', ...folders] = path.split('/').reverse();
      return isEmpty(basename(file).split('.')[0] ?? '') || folders.some(isEmpty);
    });
    expect(broken).toEqual([]);
  });

  test(`has at most ${LINES_MAX} lines, or a reason in ARCHITECTURE.md`, () => {
    const long = code.filter((path) => readProjectFile(path).split('\n').length - 1 > LINES_MAX);
    expect(long).toEqual(excusedFiles());
  });
});

describe('the sources', () => {
  test('take time, chance and settings only from the ports', () => {
    const pure = source.filter((path) => folderOf(path) === '' || PURE_FOLDERS.has(folderOf(path)));
    const checked = pure.filter((path) => !SYSTEM_ADAPTERS.has(path) && !isToolSettings(path));
    expect(checked.flatMap((path) => linesWith(path, HIDDEN_INPUT))).toEqual([]);
  });

  test('run XState behind one seam; everybody else has its types only', () => {
    const outside = source.filter(
      (path) => folderOf(path) !== 'machines' && !XSTATE_SEAM.test(path),
    );
    expect(outside.filter(runsXState)).toEqual([]);
  });

  test('that serve any system know no role, field or word of the jobs system', () => {
    const generic = source.filter((path) => GENERIC.test(path));
    expect(generic.length).toBeGreaterThan(200);
    for (const word of ['gate', 'jobId', 'isManager', 'Workflows', 'workerLimit'])
      expect(word).toMatch(JOBS_WORDS);
    for (const word of ['gateway', 'navigate', 'investigates', 'Jobst'])
      expect(word).not.toMatch(JOBS_WORDS);
    const told = generic.flatMap((path) =>
      linesWith(path, JOBS_WORDS, readProjectFile(path).replaceAll(NOT_OF_JOBS, '')),
    );
    expect(told).toEqual([]);
  });

  test('export by name', () => {
    expect(code.flatMap((path) => linesWith(path, /^\s*export\s+(type\s+)?\*/))).toEqual([]);
  });
});

describe('the project', () => {
  test('leaves no test out', () => {
    const tests = code.filter((path) => folderOf(path) === 'test');
    const only = /\b(test|it|describe|bench|suite)(\.\w+)*\.only\b/;
    expect(tests.flatMap((path) => linesWith(path, only))).toEqual([]);
  });

  test('says things in the words of the field', () => {
    const texts = files.filter((path) => /\.(ts|mjs|md)$/.test(path));
    const said = texts.flatMap((path) => linesWith(path, PRIVATE_WORDS, readProjectFile(path)));
    expect(said).toEqual([]);
  });

  test('names no path of one machine', () => {
    expect(files.flatMap((path) => linesWith(path, MACHINE_PATH, readProjectFile(path)))).toEqual(
      [],
    );
  });

  test('locks packages by content, not by the address they came from', () => {
    const lockfile = JSON.parse(readProjectFile('package-lock.json'));
    const addressed = Object.entries<{ resolved?: string }>(lockfile.packages)
      .filter(([, entry]) => entry.resolved !== undefined)
      .map(([name]) => name);
    expect(addressed).toEqual([]);
  });
});

/** The rows of the table under "Files over 300 lines": a file and its reason. */
function excusedFiles(): string[] {
  const section = readProjectFile('ARCHITECTURE.md').split('\n## Files over 300 lines\n')[1];
  if (section === undefined) throw new Error('ARCHITECTURE.md has lost "Files over 300 lines".');
  const rows = (section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)` +\| *[^\s|]/gm);
  return Array.from(rows, ([, path = '']) => path).sort();
}

function isToolSettings(path: string): boolean {
  return path.endsWith('.config.ts');
}

function runsXState(path: string): boolean {
  const imports = withoutComments(readProjectFile(path)).matchAll(XSTATE_IMPORT);
  return Array.from(imports).some(([, type, names]) => !type && !hasTypesOnly(names));
}

function hasTypesOnly(names: string | undefined): boolean {
  const inBraces = /^\{([\s\S]*)\}$/.exec(names?.trim() ?? '')?.[1];
  if (inBraces === undefined) return false;
  const each = inBraces.split(',').filter((name) => name.trim() !== '');
  return each.every((name) => /^\s*type\s/.test(name));
}

/** `path:line: text` for every line of code, or of `text`, that matches. */
function linesWith(path: string, pattern: RegExp, text?: string): string[] {
  return (text ?? withoutComments(readProjectFile(path)))
    .split('\n')
    .map((line, index) => ({ line, at: `${path}:${index + 1}: ${line.trim()}` }))
    .filter(({ line }) => pattern.test(line))
    .map(({ at }) => at);
}

/** Comments may speak of what code must not do. Lines keep their numbers. */
function withoutComments(text: string): string {
  return text.replace(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (match, literal) => literal ?? match.replace(/[^\n]/g, ''),
  );
}

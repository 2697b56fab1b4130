/**
 * Keeps the documents true: what README shows compiles and runs, and every list
 * in them is equal to what it lists, in both directions.
 *
 * A README block that opens with "```ts run" is a program. With a name behind it
 * ("```ts run order.ts") later blocks can import it as `./order.ts`. Blocks of
 * plain "```ts" are excerpts and are not run.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { folderOf, listProjectFiles, ROOT, readProjectFile } from './project-files.ts';

const AGENTS_LINES_MAX = 40;

const SNIPPETS_FOLDER = join(ROOT, 'test', '.tmp', 'readme');
const snippets = findSnippets(readProjectFile('README.md'));

describe('README', () => {
  beforeAll(() => {
    rmSync(SNIPPETS_FOLDER, { recursive: true, force: true });
    mkdirSync(SNIPPETS_FOLDER, { recursive: true });
    for (const { name, program } of snippets) writeFileSync(join(SNIPPETS_FOLDER, name), program);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => rmSync(SNIPPETS_FOLDER, { recursive: true, force: true }));

  test('has programs to run', () => {
    expect(snippets.length).toBeGreaterThan(0);
  });

  test('shows programs that compile', { timeout: 60_000 }, () => {
    const settings = { extends: '../../../tsconfig.json', include: ['*.ts'] };
    writeFileSync(join(SNIPPETS_FOLDER, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const compiled = spawnSync(process.execPath, [compiler, '-p', SNIPPETS_FOLDER], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(compiled.stdout + compiled.stderr).toBe('');
    expect(compiled.status).toBe(0);
  });

  for (const { name } of snippets) {
    test(`shows ${name}, which runs`, async () => {
      vi.spyOn(console, 'log').mockImplementation(() => {});
      await import(/* @vite-ignore */ pathToFileURL(join(SNIPPETS_FOLDER, name)).href);
    });
  }

  test('maps every folder that exists, and no other', () => {
    const folders = new Set(listProjectFiles().map(folderOf));
    const visible = [...folders].filter((folder) => folder !== '' && !folder.startsWith('.'));
    const mapped = tableKeys(sectionOf('README.md', 'Map')).map((cell) => cell.replace(/\/$/, ''));
    expect(mapped.sort()).toEqual(visible.sort());
  });
});

describe('docs', () => {
  test('list every error code, and no other, and say which are retryable', async () => {
    const { ERROR_CODES } = await import('../runtime/errors.ts');
    const rows = readProjectFile('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \| (\w+) \|/gm);
    const documented = Array.from(rows, ([, code, isRetryable]) => `${code}: ${isRetryable}`);
    const actual = Object.entries(ERROR_CODES).map(
      ([code, { retryable }]) => `${code}: ${retryable ? 'yes' : 'no'}`,
    );
    expect(documented.sort()).toEqual(actual.sort());
  });

  test('list every decision, and no other', () => {
    const pages = listProjectFiles().filter((path) => /^docs\/decisions\/\d{4}-/.test(path));
    const index = readProjectFile('docs/decisions/README.md');
    const listed = Array.from(index.matchAll(/\]\((\d{4}-[^)]+)\)/g), ([, page]) => page);
    expect(listed.map((page) => `docs/decisions/${page}`)).toEqual(pages);
  });

  test('link to files that exist', () => {
    const broken = listProjectFiles()
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) => brokenLinks(path));
    expect(broken).toEqual([]);
  });

  test(`keep AGENTS.md within ${AGENTS_LINES_MAX} lines, and CLAUDE.md the same file`, () => {
    const lines = readProjectFile('AGENTS.md').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(AGENTS_LINES_MAX);
    expect(readlinkSync(join(ROOT, 'CLAUDE.md'))).toBe('AGENTS.md');
  });
});

interface Snippet {
  readonly name: string;
  readonly program: string;
}

function findSnippets(markdown: string): readonly Snippet[] {
  const blocks = markdown.matchAll(/^```ts run(?: +([a-z0-9.-]+\.ts))?\n([\s\S]*?)^```$/gm);
  return Array.from(blocks, ([, name, program = ''], index) => ({
    name: name ?? `snippet-${index + 1}.ts`,
    program: importSources(program),
  }));
}

/** Users import the package, the tests its sources: package.json says which file is which. */
function importSources(program: string): string {
  const entries = JSON.parse(readProjectFile('package.json')).exports;
  return program.replace(/(from\s*)'escapement(\/[a-z-]+)?'/g, (_, from, subpath = '') => {
    const built: string | undefined = entries[`.${subpath}`]?.default;
    if (built === undefined) throw new Error(`package.json exports no ".${subpath}".`);
    const source = built.replace('./dist/', '').replace(/\.js$/, '.ts');
    return `${from}'../../../${source}'`;
  });
}

function sectionOf(path: string, title: string): string {
  const section = readProjectFile(path).split(`\n## ${title}\n`)[1];
  if (section === undefined) throw new Error(`${path} has lost its section "${title}".`);
  return section.split('\n## ')[0] ?? '';
}

/** The first cell of every table row that starts with one in code style. */
function tableKeys(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^\| `([^`]+)` \|/gm), ([, key = '']) => key);
}

/** Links to other places of the project whose file is gone. */
function brokenLinks(path: string): string[] {
  const links = readProjectFile(path).matchAll(/\]\((?![a-z]+:|#)([^)#]+)(?:#[^)]*)?\)/g);
  return Array.from(links, ([, target = '']) => target)
    .filter((target) => !existsSync(join(ROOT, path, '..', target)))
    .map((target) => `${path}: ${target}`);
}

/**
 * Keeps the documents true: what they show compiles, runs and prints what they say, and
 * every list in them is equal to what it lists, in both directions.
 *
 * In README.md and the guides in docs/ a block that opens with "```ts run" is a program.
 * With a name behind it ("```ts run order.ts") later blocks of the page can import it as
 * `./order.ts`. A block "```text prints" right behind a program is all that it prints.
 * Blocks of plain "```ts" are excerpts and are not run. Blocks of the shell are in shell-snippets.ts.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { folderOf, listProjectFiles, ROOT, readProjectFile } from '../project-files.ts';
import { blocksOf, ShellFolder } from './shell-snippets.ts';

const AGENTS_LINES_MAX = 40;
/** Some programs simulate a cluster. */
const SNIPPETS_FOLDER = join(ROOT, 'test', '.tmp', 'docs');
const pages = listProjectFiles().filter((path) => /^(README|docs\/[a-z-]+)\.md$/.test(path));
const snippets = pages.flatMap(findSnippets);

describe('the programs in the documents', () => {
  beforeAll(() => {
    rmSync(SNIPPETS_FOLDER, { recursive: true, force: true });
    for (const { page, name, program } of snippets) {
      mkdirSync(join(SNIPPETS_FOLDER, page), { recursive: true });
      writeFileSync(join(SNIPPETS_FOLDER, page, name), program);
    }
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => rmSync(SNIPPETS_FOLDER, { recursive: true, force: true }));

  test('are there', () => {
    expect(snippets.length).toBeGreaterThan(0);
  });

  test('compile', () => {
    const settings = { extends: '../../../tsconfig.json', include: ['**/*.ts'] };
    writeFileSync(join(SNIPPETS_FOLDER, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const compiled = spawnSync(process.execPath, [compiler, '-p', SNIPPETS_FOLDER], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(compiled.stdout + compiled.stderr).toBe('');
    expect(compiled.status).toBe(0);
  });

  for (const { page, name, prints } of snippets) {
    test(`${page}: ${name} runs${prints === undefined ? '' : ' and prints what it says'}`, async () => {
      const log = vi.spyOn(console, 'log').mockImplementation(() => {});
      await import(/* @vite-ignore */ pathToFileURL(join(SNIPPETS_FOLDER, page, name)).href);
      const printed = log.mock.calls.map((values) => values.join(' ')).join('\n');
      if (prints !== undefined) expect(`${printed}\n`).toBe(prints);
    });
  }
});

describe('the commands in the documents', () => {
  const programs = pages.flatMap((path) => {
    const blocks = blocksOf(readProjectFile(path));
    return blocks.flatMap(({ title, text }, index) => {
      if (title !== 'sh run') return [];
      const next = blocks[index + 1];
      const prints = next?.title === 'text prints' ? next.text : undefined;
      return [{ path, blocks, text, prints }];
    });
  });

  test('are there', () => {
    expect(programs.map(({ path }) => path)).toContain('README.md');
  });

  test.each(programs)('$path: they print what it says', async (program) => {
    const folder = await ShellFolder.create(program.blocks);
    try {
      const printed = await folder.run(program.text);
      // Of moments only that they are told.
      const timeless = (text = '') => text.replaceAll(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, 'hh:mm:ss.mmm');
      if (program.prints !== undefined) expect(timeless(printed)).toBe(timeless(program.prints));
    } finally {
      folder.remove();
    }
  });
});

describe('README', () => {
  test('maps every folder that exists, and no other', () => {
    const folders = new Set(listProjectFiles().map(folderOf));
    const visible = [...folders].filter((folder) => folder !== '' && !folder.startsWith('.'));
    const mapped = tableKeys(sectionOf('README.md', 'Map')).map((cell) => cell.replace(/\/$/, ''));
    expect(mapped.sort()).toEqual(visible.sort());
  });
});

describe('docs', () => {
  test('list every error code, and no other, and say which are retryable', async () => {
    const { ERROR_CODES } = await import('../../runtime/base/errors.ts');
    const sections = readProjectFile('docs/errors.md').matchAll(
      /^### `([A-Z_]+)`\n\n(Retryable|Not retryable)\. [^\n]/gm,
    );
    const documented = Array.from(sections, ([, code, isRetryable]) => `${code}: ${isRetryable}`);
    const actual = Object.entries(ERROR_CODES).map(
      ([code, { retryable }]) => `${code}: ${retryable ? 'Retryable' : 'Not retryable'}`,
    );
    expect(documented.sort()).toEqual(actual.sort());
  });

  test('list every limit of a runtime with its default, and no other', async () => {
    const { DEFAULT_LIMITS } = await import('../../runtime/base/limits.ts');
    const rows = readProjectFile('docs/embedding.md').matchAll(/^\| `(\w+)` +\| ([\d,]+) +\|/gm);
    const documented = Array.from(rows, ([, name, value]) => `${name}: ${value}`);
    const actual = Object.entries(DEFAULT_LIMITS).map(
      ([name, value]) => `${name}: ${value.toLocaleString('en-GB')}`,
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
  readonly page: string;
  readonly name: string;
  readonly program: string;
  readonly prints: string | undefined;
}

function findSnippets(path: string): readonly Snippet[] {
  const page = path.replace(/^docs\//, '').replace(/\.md$/, '');
  const blocks = readProjectFile(path).matchAll(
    /^```ts run(?: +([a-z0-9.-]+\.ts))?\n([\s\S]*?)^```$(?:\n+^```text prints\n([\s\S]*?)^```$)?/gm,
  );
  return Array.from(blocks, ([, name, program = '', prints], index) => ({
    page,
    name: name ?? `snippet-${index + 1}.ts`,
    program: importSources(program),
    prints,
  }));
}

/** Users import the package, the tests its sources: package.json says which file is which. */
function importSources(program: string): string {
  const entries = JSON.parse(readProjectFile('package.json')).exports;
  return program.replace(/(from\s*)'escapement(\/[a-z-]+)?'/g, (_, from, subpath = '') => {
    const built: string | undefined = entries[`.${subpath}`]?.default;
    if (built === undefined) throw new Error(`package.json exports no ".${subpath}".`);
    const source = built.replace('./dist/', '').replace(/\.js$/, '.ts');
    return `${from}'../../../../${source}'`;
  });
}

function sectionOf(path: string, title: string): string {
  const section = readProjectFile(path).split(`\n## ${title}\n`)[1];
  if (section === undefined) throw new Error(`${path} has lost its section "${title}".`);
  return section.split('\n## ')[0] ?? '';
}

/** The first cell of every table row that starts with one in code style. */
function tableKeys(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^\| `([^`]+)` +\|/gm), ([, key = '']) => key);
}

/** Links to other places of the project whose file is gone. */
function brokenLinks(path: string): string[] {
  const links = readProjectFile(path).matchAll(/\]\((?![a-z]+:|#)([^)#]+)(?:#[^)]*)?\)/g);
  return Array.from(links, ([, target = '']) => target)
    .filter((target) => !existsSync(join(ROOT, path, '..', target)))
    .map((target) => `${path}: ${target}`);
}

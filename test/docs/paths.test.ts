/**
 * Paths in documents: every file and folder of the project that a page names is there, as text in backticks
 * and as the target of a link.
 */

import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf, listProjectFiles, ROOT, readProjectFile } from '../project-files.ts';

const files = listProjectFiles();
const folders = new Set(files.map(folderOf).filter((folder) => folder !== ''));
/** What was found and mended stands under the names of its time. */
const PAST = new Set(['CHANGELOG.md', 'docs/track-record.md']);
const pages = files.filter((path) => path.endsWith('.md') && !PAST.has(path));

/** Code between backticks that begins with a folder of the project and has nothing to fill in. */
function pathsIn(text: string): string[] {
  const named = Array.from(text.matchAll(/`([a-z-]+\/[\w./-]*\w)\/?`/g), ([, path = '']) => path);
  return named.filter((path) => folders.has(path.split('/')[0] ?? '') && !path.includes('..'));
}

const isThere = (path: string): boolean =>
  ['', '.ts', '.tsx', '.mjs'].some((ending) => existsSync(join(ROOT, `${path}${ending}`)));

test('are of files and folders that are there', () => {
  const missing = pages.flatMap((page) =>
    pathsIn(readProjectFile(page))
      .filter((path) => !isThere(path) && !isThere(join(dirname(page), path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test('are of files that are there where they are links', () => {
  const missing = pages.flatMap((page) => {
    const links = Array.from(
      readProjectFile(page).matchAll(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/g),
      ([, path = '']) => normalize(join(dirname(page), path)),
    );
    return links.filter((path) => !existsSync(join(ROOT, path))).map((path) => `${page}: ${path}`);
  });
  expect(missing).toEqual([]);
});

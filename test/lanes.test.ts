/**
 * Keeps the lanes of vitest.config.ts what CONTRIBUTING.md says: every test file is in exactly one, and
 * those of the unit lane reach nothing that starts a process or opens a socket.
 */

import { join, relative, sep } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createVitest } from 'vitest/node';
import { listProjectFiles, ROOT, readProjectFile } from './project-files.ts';

const OUTSIDE = /^node:(child_process|cluster|dgram|http2?|https|net|tls|worker_threads)$/;
/** It asks git which files there are; most tests of the sources begin with that. */
const LISTS_FILES = 'test/project-files.ts';

let lanes: ReadonlyArray<{ readonly lane: string; readonly path: string }>;
beforeAll(async () => {
  const vitest = await createVitest('test', { root: ROOT, watch: false });
  const files = await vitest.globTestSpecifications();
  lanes = files.map(({ project, moduleId }) => ({ lane: project.name, path: pathOf(moduleId) }));
  await vitest.close();
});

test('every test file is in exactly one lane', () => {
  const tests = listProjectFiles().filter((path) => /^test\/.*\.test\.ts$/.test(path));
  expect(lanes.map(({ path }) => path).sort()).toEqual(tests);
});

test('the unit lane starts no process and opens no socket', () => {
  const unit = lanes.filter(({ lane }) => lane === 'unit');
  expect(unit.length).toBeGreaterThan(100);
  expect(unit.flatMap(({ path }) => waysOutside(path))).toEqual([]);
});

/** `test file: module` for what the file and the files of test/ that it imports take of Node. */
function waysOutside(path: string): string[] {
  const reached = new Set([path]);
  const found: string[] = [];
  for (const file of reached) {
    if (file === LISTS_FILES) continue;
    for (const [, name = ''] of readProjectFile(file).matchAll(/\b(?:from |import\()'([^']+)'/g)) {
      if (OUTSIDE.test(name)) found.push(`${path}: ${name} by ${file}`);
      const imported = pathOf(join(ROOT, file, '..', name));
      if (name.startsWith('.') && imported.startsWith('test/')) reached.add(imported);
    }
  }
  return found;
}

function pathOf(file: string): string {
  return relative(ROOT, file).replaceAll(sep, '/');
}

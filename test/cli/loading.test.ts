/** Loading of the command line, before it knows what it is asked for. */

import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { readProjectFile } from '../project-files.ts';

const IMPORT = /^import\s+(?!type\b)([^;']*?)\s*from\s+'([^']+)'/gm;
const TYPES_ONLY = /^\{\s*(type\s+[^,}]+,?\s*)+\}$/;

/** All that is loaded with a file, packages by their names. */
function loadedWith(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, names = '', from = ''] of readProjectFile(path).matchAll(IMPORT)) {
    if (TYPES_ONLY.test(names)) continue;
    if (from.startsWith('.')) loadedWith(normalize(join(dirname(path), from)), seen);
    else seen.add(from);
  }
  return seen;
}

test('the program loads the command that it is asked for, and no other', () => {
  const folders = [...loadedWith('cli/main.ts')].filter((path) => /^[a-z]+\//.test(path));
  expect(folders.filter((path) => !path.startsWith('cli/'))).toEqual([
    'runtime/base/errors.ts',
    'runtime/base/printable.ts',
  ]);
});

test.each(['status', 'submit', 'jobs', 'show', 'cancel', 'extend', 'workers', 'history', 'timers'])(
  '%s loads no machine, no store and no schema',
  (command) => {
    const loaded = [...loadedWith(`cli/commands/${command}.ts`)];
    expect(loaded.filter((name) => ['xstate', 'zod', 'yaml', 'lmdb', 'ws'].includes(name))).toEqual(
      [],
    );
    expect(loaded.length).toBeLessThan(40);
  },
);

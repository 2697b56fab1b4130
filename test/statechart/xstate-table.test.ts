/** docs/xstate.md: every row of its tables is played, and nothing is played that is not a row. */

import { describe, expect, test } from 'vitest';
import { readProjectFile } from '../project-files.ts';
import { underRuntime, underXState } from './beside-xstate.ts';
import { differences } from './xstate-differences.ts';
import { likenesses } from './xstate-likenesses.ts';

const [, same = '', different = ''] = readProjectFile('docs/xstate.md').split(/^## .*$/m);

function rowsOf(table: string): string[] {
  const lines = table.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => (line.split('|')[1] as string).trim());
}

test('every row is a test, and every test a row', () => {
  expect(rowsOf(same)).toEqual(Object.keys(likenesses));
  expect(rowsOf(different)).toEqual(Object.keys(differences));
});

describe.each(Object.entries(likenesses))('%s', (_, { make, steps, hasActing = false }) => {
  test('is the same', async () => {
    const expected = await underXState(make, steps);
    expect(expected.states.length).toBeGreaterThan(1);
    expect(await underRuntime(make, steps)).toEqual(expected);
  });

  test('is the same with a crash after every step', async () => {
    const expected = await underXState(make, steps);
    const seen = await underRuntime(make, steps, { crashes: true });
    expect(seen.states).toEqual(expected.states);
    if (!hasActing) expect(seen.log).toEqual(expected.log);
  });
});

describe.each(Object.entries(differences))('%s', (_, play) => {
  test('is different in that way', play);
});

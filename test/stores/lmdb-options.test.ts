/** Options that lmdbStore refuses, and what a runtime that cannot start leaves behind. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRuntime, type LmdbStoreOptions, lmdbStore } from '../../index.ts';
import { codeOf } from '../engine/outcomes.ts';

test.each<readonly [string, object]>([
  ['a history of no rows', { historyMax: 0 }],
  ['a history of more rows than a part can count', { historyMax: 65_536 }],
  ['half a message', { undeliveredMax: 0.5 }],
  ['a file of endless size', { sizeBytesMax: Number.POSITIVE_INFINITY }],
  ['a size in words', { sizeBytesMax: '1 GB' }],
  ['strictness in words', { isStrict: 'yes' }],
  ['an option there is not', { historyMaximum: 5 }],
])('refuses %s', (_, options) => {
  expect(() => lmdbStore('somewhere', options as LmdbStoreOptions)).toThrow(
    expect.objectContaining({ code: 'OPTION_INVALID' }),
  );
});

test('refuses no directory at all', () => {
  for (const directory of ['', undefined, 7])
    expect(() => lmdbStore(directory as string)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
});

test('touches nothing before it is opened, and says so when it is asked', () => {
  const store = lmdbStore(join(tmpdir(), 'escapement-nothing-here'));
  expect(() => store.load('order/1@A')).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }));
});

test('a runtime whose kinds are refused gives the directory back', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'escapement-options-'));
  const kinds = { order: {} as never };
  expect(await codeOf(createRuntime({ store: lmdbStore(directory), kinds }))).toBe(
    'OPTION_INVALID',
  );
  const runtime = await createRuntime({ store: lmdbStore(directory) });
  expect(runtime.isHosting).toBe(true);
  await runtime.stop();
  await rm(directory, { recursive: true });
});

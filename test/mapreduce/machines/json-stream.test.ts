/** Inputs read as a stream: the same values as of the whole file, and the same refusals. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { readInput } from '../../../programs/mapreduce/items.ts';
import { streamElements } from '../../../programs/mapreduce/json-stream.ts';

const folder = mkdtempSync(join(tmpdir(), 'escapement-input-'));
const file = join(folder, 'input.json');
afterAll(() => rmSync(folder, { recursive: true }));

const streamed = (text: string, ...path: string[]) => {
  writeFileSync(file, text);
  return [...streamElements(file, path)];
};
const idsOf = (text: string, jsonPath = '$[*]') => {
  writeFileSync(file, text);
  const { count, items } = readInput(file, jsonPath);
  const ids = [...items()].map(({ itemId }) => itemId);
  expect(count).toBe(ids.length);
  return ids;
};

describe('a stream of elements', () => {
  test('gives what the whole file has, however it is laid out', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        (values, space) => {
          const text = JSON.stringify(
            { before: values, 'a b': { c: values }, after: [{ c: 1 }] },
            null,
            space,
          );
          const wanted = JSON.parse(JSON.stringify(values));
          expect(streamed(text, 'a b', 'c')).toEqual(wanted);
          expect(streamed(JSON.stringify(values, null, space))).toEqual(wanted);
        },
      ),
    );
  });

  test('goes over the borders of its reads', () => {
    const values = Array.from({ length: 30_000 }, (_, index) => ({
      id: index,
      text: 'é"\\'.repeat(5),
    }));
    expect(streamed(JSON.stringify(values))).toEqual(values);
    const long = ['ü'.repeat(600_000), [['x'.repeat(300_000)]]];
    expect(streamed(JSON.stringify(long))).toEqual(long);
  });

  test.each([
    '',
    '[1,',
    '[1',
    '[1 2]',
    '[1,]',
    '[1] 2',
    '{"a":[1}',
    '{"a":[1],}',
    '{a:[1]}',
    '["a',
    '[01]',
    'nul',
    '{"b":[tru], "a":[]}',
  ])('refuses %j', (text) => {
    expect(() => streamed(text, ...(text.startsWith('{') ? ['a'] : []))).toThrow();
  });
});

describe('items', () => {
  test('are called by their ids where all have one and no two the same', () => {
    expect(idsOf('[{"id":"a"},{"id":7}]')).toEqual(['a', '7']);
    expect(idsOf('[{"id":"a"},{"id":"a"}]')).toEqual(['item_0', 'item_1']);
    expect(idsOf('[{"id":"a"},{}]')).toEqual(['item_0', 'item_1']);
    expect(idsOf('[{"id":7},{"id":"7"}]')).toEqual(['item_0', 'item_1']);
  });

  test('of a name that stands there twice are those of the last', () => {
    expect(idsOf('{"a":[{"id":"x"}],"a":[{"id":"y"}]}', '$.a[*]')).toEqual(['y']);
  });

  test('of an object are its members', () => {
    expect(idsOf('{"a":{"b":{"id":"x"},"c":{"id":"y"}}}', '$.a[*]')).toEqual(['x', 'y']);
  });

  test('of any other path are what it finds', () => {
    expect(idsOf('[[{"id":"x"}],[{"id":"y"}]]', '$[1][*]')).toEqual(['y']);
    expect(idsOf('{"a b":[{"id":"x"}]}', "$['a b'][*]")).toEqual(['x']);
    expect(idsOf('{}', '$.none[*]')).toEqual([]);
  });
});

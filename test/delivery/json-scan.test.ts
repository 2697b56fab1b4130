/** Text from a peer is looked at before it is parsed: within its bounds it passes, beyond them never. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { type JsonBounds, scanJson } from '../../runtime/delivery/json-limits.ts';

const BOUNDS: JsonBounds = {
  depthMax: 32,
  keysMax: 1_000,
  partsMax: 50_000,
  itemsMax: 100_000,
  textMax: 8_192,
  payloadMax: 65_536,
  payloadKeys: new Set(['payload', 'result']),
};

function refusal(text: string, bounds: JsonBounds = BOUNDS): string | undefined {
  try {
    scanJson(text, bounds);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    expect(thrown.code).toBe('ENVELOPE_MALFORMED');
    expect(thrown.message.length).toBeLessThan(300);
    return thrown.message;
  }
  return undefined;
}

interface Measures {
  readonly depth: number;
  readonly keys: number;
  readonly parts: number;
  readonly items: number;
  readonly text: number;
}

/** What a value has of everything that is bounded, found by walking it. */
function measure(value: unknown, depth = 1): Measures {
  const none = { depth: 0, keys: 0, parts: 0, items: 0, text: 0 };
  if (typeof value === 'string') return { ...none, text: value.length };
  if (typeof value !== 'object' || value === null) return none;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const values = Object.values(value);
  const followers = Math.max(0, values.length - 1);
  const parts = [...values, ...names].map((part) => measure(part, depth + 1));
  return {
    depth: Math.max(depth, ...parts.map((part) => part.depth)),
    keys: Math.max(names.length, ...parts.map((part) => part.keys)),
    parts: parts.reduce((sum, part) => sum + part.parts, 1 + names.length),
    items: parts.reduce((sum, part) => sum + part.items, followers),
    text: Math.max(0, ...parts.map((part) => part.text)),
  };
}

test('agrees with a walk through what is parsed, whatever is in it', () => {
  const odd = fc.constantFrom(
    '"',
    '\\',
    '\\"',
    '{[":,]}',
    '\u0000',
    '€',
    '\ud800',
    '😀',
    '\\u0041',
  );
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(odd).map((parts) => parts.join('')),
  );
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 9 },
      fc.constantFrom(null, true, -1.797_693_134_862_315_7e308, 0.1),
      text,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(text, tie('value'), { maxKeys: 8, noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
      const { depth, keys, parts, items, text: length } = measure(given);
      const json = JSON.stringify(given, null, indent);
      const bounds = {
        ...BOUNDS,
        depthMax: depth,
        keysMax: keys,
        partsMax: parts,
        itemsMax: items,
        textMax: length,
      };
      expect(refusal(json, bounds)).toBeUndefined();
      if (depth > 0) expect(refusal(json, { ...bounds, depthMax: depth - 1 })).toBeDefined();
      if (keys > 0) expect(refusal(json, { ...bounds, keysMax: keys - 1 })).toBeDefined();
      if (parts > 0) expect(refusal(json, { ...bounds, partsMax: parts - 1 })).toBeDefined();
      if (items > 0) expect(refusal(json, { ...bounds, itemsMax: items - 1 })).toBeDefined();
      if (length > 0)
        expect(refusal(json, { ...bounds, textMax: length - 1, payloadMax: 0 })).toBeDefined();
    }),
    { numRuns: 300 },
  );
});

test('what is no JSON is left to the parser', () => {
  fc.assert(fc.property(fc.string({ maxLength: 40 }), (text) => void scanJson(text, BOUNDS)));
  for (const text of ['', '{', '"', '"\\', '\\"', ']]]]', '}{', '{"a"', '[1,,2]', '\u0000', ':::'])
    expect(refusal(text)).toBeUndefined();
});

describe('H45: a frame', () => {
  const atDepth = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const withKeys = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1])));
  const flat = (one: string, count: number) => `[${Array<string>(count).fill(one).join(',')}]`;
  const manyKeys = (count: number) => Array<string>(count).fill(withKeys(900)).join(',');
  const escapes = (count: number) => `{"x":"${'\\"'.repeat(count)}"}`;
  const withText = (key: string, length: number) => JSON.stringify({ [key]: 'x'.repeat(length) });

  test.each([
    ['of 32 levels', atDepth(32), atDepth(33)],
    ['of 100,000 levels', atDepth(32), atDepth(100_000)],
    ['whose levels never end', atDepth(32), '{"a":'.repeat(100_000)],
    ['of 1,000 keys in one object', withKeys(1_000), withKeys(1_001)],
    ['of a million keys', withKeys(1_000), withKeys(1_000_000)],
    ['of 8,192 characters in one text', withText('detail', 8_192), withText('detail', 8_193)],
    ['of a million characters in one text', withText('x', 8_192), withText('x', 2 ** 20)],
    ['of such a key', `{"${'k'.repeat(8_192)}":1}`, `{"${'k'.repeat(8_193)}":1}`],
    ['of 65,536 characters in a payload', withText('payload', 65_536), withText('payload', 65_537)],
    ['of as many in a result', withText('result', 65_536), withText('result', 65_537)],
    ['of 50,000 lists', flat('[]', 49_999), flat('[]', 50_000)],
    ['of 50,000 objects and keys', flat('{"a":0}', 24_999), flat('{"a":0}', 25_000)],
    ['of 50,000 keys in many objects', `[${manyKeys(55)}]`, `[${manyKeys(56)}]`],
    ['of a million objects', flat('0', 100_000), flat('{}', 1_000_000)],
    ['of 100,001 numbers', flat('0', 100_001), flat('0', 100_002)],
    ['of as many texts', flat('""', 100_001), flat('""', 100_002)],
    ['of a million numbers in many lists', flat('0', 100_000), flat(flat('0', 1_000), 1_000)],
    ['of a text of escapes', escapes(8_192), escapes(1_000_000)],
    ['of a number of 10,000 digits', '[-1.7976931348623157e+308]', `[${'9'.repeat(10_000)}]`],
  ])('%s passes, and not one beyond', (_, within, beyond) => {
    expect(refusal(within)).toBeUndefined();
    expect(refusal(beyond)).toBeDefined();
  });

  test('of one’s own kinds has as many objects of many keys as it likes', () => {
    const all = Number.POSITIVE_INFINITY;
    const own = { ...BOUNDS, partsMax: all, itemsMax: all };
    expect(refusal(`[${manyKeys(200)}]`, own)).toBeUndefined();
    expect(refusal(flat('0', 1_000_000), own)).toBeUndefined();
  });

  test('is measured in characters of the text, however it is written', () => {
    for (const character of ['\u0000', '"', '\\', '€'])
      for (const [length, isRefused] of [
        [65_536, false],
        [65_537, true],
      ] as const) {
        const text = JSON.stringify({ payload: character.repeat(length) });
        expect(refusal(text) !== undefined, `${character} ${length}`).toBe(isRefused);
      }
  });

  test('of one’s own kinds may have texts of any length', () => {
    const own = { ...BOUNDS, textMax: Number.POSITIVE_INFINITY };
    expect(refusal(withText('novel', 2 ** 20), own)).toBeUndefined();
  });
});

/** JSON as it arrives, in any pieces: the same as `JSON.parse` would have it, or refused. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonReader, type JsonShape } from '../../http/json-reader.ts';

const SHAPE: JsonShape = {
  depthMax: 8,
  keysMax: 20,
  stringBytesMax: 100,
  longTexts: { payload: 1_000 },
  partLengthMax: 10_000,
};

interface Read {
  readonly members: Record<string, unknown>;
  readonly entries: unknown[];
}

/** Reads a text in pieces that are cut at these places. */
function readIn(text: string, cuts: readonly number[], shape = SHAPE): Read {
  const members: Record<string, unknown> = {};
  const entries: unknown[] = [];
  const reader = new JsonReader(shape, {
    isList: (name) => name === 'list',
    member: (name, value) => {
      members[name] = value;
    },
    entry: (_name, value, index) => {
      expect(index).toBe(entries.length);
      entries.push(value);
    },
  });
  let from = 0;
  for (const cut of [...cuts, text.length].sort((one, other) => one - other)) {
    reader.push(text.slice(from, cut));
    from = Math.max(from, cut);
  }
  reader.end();
  return { members, entries };
}

const refusal = (text: string, cuts: readonly number[] = []) => {
  try {
    readIn(text, cuts);
    return undefined;
  } catch (thrown) {
    return { code: (thrown as { code: string }).code, field: (thrown as { field: string }).field };
  }
};

const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];
const key = fc.string({ maxLength: 20 }).filter((name) => !FORBIDDEN.includes(name));
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', maxDepth: 5 },
    fc.string({ maxLength: 30 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 5 }),
  ),
}));
const body = fc.record(
  { list: fc.array(tree, { maxLength: 6 }), a: tree, 'b c': tree, é: tree },
  { requiredKeys: [] },
);
const cuts = fc.array(fc.nat(2_000), { maxLength: 12 });
const blanks = fc.constantFrom(undefined, 1, 2, '\t');

test('reads whatever JSON says, wherever it is cut', () => {
  fc.assert(
    fc.property(body, cuts, blanks, (value, where, space) => {
      const text = JSON.stringify(value, null, space);
      const { members, entries } = readIn(text, where);
      const { list = [], ...rest } = JSON.parse(text);
      expect(entries).toEqual(list);
      expect(members).toEqual(rest);
    }),
    { numRuns: 500 },
  );
});

test('takes nothing that JSON.parse does not, and throws nothing but refusals', () => {
  const damaged = fc.record({ body, at: fc.nat(200), put: fc.string({ maxLength: 3 }), cuts });
  const signs = fc.array(fc.constantFrom(...'{}[]",:\\u0019eE+-. tfnl'.split('')), {
    maxLength: 30,
  });
  const attempt = (text: string, where: readonly number[]) => {
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    const refused = refusal(text, where);
    if (refused === undefined) expect(isJson, text).toBe(true);
    else expect(refused.code, text).toBe('invalid');
  };
  fc.assert(
    fc.property(damaged, ({ body: value, at, put, cuts: where }) => {
      const text = JSON.stringify(value);
      attempt(text.slice(0, at) + put + text.slice(at + put.length), where);
    }),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(signs, cuts, (parts, where) => attempt(`{${parts.join('')}}`, where)),
    { numRuns: 2_000 },
  );
});

describe('limits', () => {
  test.each([
    ['depth', `{"a":${'['.repeat(7)}1${']'.repeat(7)}}`, `{"a":${'['.repeat(8)}`, 'a'],
    ['a text', `{"a":"${'x'.repeat(100)}"}`, `{"a":"${'x'.repeat(101)}"}`, 'a'],
    ['bytes, not characters', `{"a":"${'é'.repeat(50)}"}`, `{"a":"${'é'.repeat(51)}"}`, 'a'],
    ['four bytes', `{"a":"${'😀'.repeat(25)}"}`, `{"a":"${'😀'.repeat(26)}"}`, 'a'],
    ['escapes', `{"a":"${'\\n'.repeat(100)}"}`, `{"a":"${'\\n'.repeat(101)}"}`, 'a'],
    ['points', `{"a":"${'\\u0001'.repeat(100)}"}`, `{"a":"${'\\u0001'.repeat(101)}"}`, 'a'],
    [
      'a payload',
      `{"payload":"${'x'.repeat(1_000)}"}`,
      `{"payload":"${'x'.repeat(1_001)}"}`,
      'payload',
    ],
    ['a key', `{"${'k'.repeat(100)}":1}`, `{"${'k'.repeat(101)}":1}`, 'body'],
    ['digits', `{"a":${'1'.repeat(64)}}`, `{"a":${'1'.repeat(65)}}`, 'a'],
    ['a part', `{"a":[${'1,'.repeat(4_998)}1]}`, `{"a":[${'1,'.repeat(4_999)}1]}`, 'a'],
  ])('%s', (_what, fits, doesNot, field) => {
    expect(refusal(fits)).toBeUndefined();
    expect(refusal(doesNot)).toEqual({ code: 'invalid', field });
    for (let cut = 1; cut < doesNot.length; cut += 97)
      expect(refusal(doesNot, [cut]), String(cut)).toEqual({ code: 'invalid', field });
  });

  test('keys of one object, and not of all together', () => {
    const object = (keys: number) =>
      `{${Array.from({ length: keys }, (_, n) => `"k${n}":1`).join(',')}}`;
    expect(refusal(`{"list":[${object(20)},${object(20)}]}`)).toBeUndefined();
    expect(refusal(`{"list":[${object(20)},${object(21)}]}`)).toMatchObject({
      field: 'list[1]',
    });
  });

  test('the field is told where the mistake is', () => {
    expect(refusal('{"list":[{},{"id":tru}]}')).toMatchObject({ field: 'list[1]' });
    expect(refusal('{"list":[{},{"id":[1,}]}')).toMatchObject({ field: 'list[1].id' });
    expect(refusal('{"list":[1,,2]}')).toMatchObject({ field: 'list[1]' });
    expect(refusal('{"list":[1],"a":nul}')).toMatchObject({ field: 'a' });
    expect(refusal('{"a":1,"a":2}')).toMatchObject({ field: 'a' });
    expect(refusal('[]')).toMatchObject({ field: 'body' });
    expect(refusal('{"a":1')).toMatchObject({ field: 'body' });
  });
});

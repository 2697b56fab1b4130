/** A table against the most naive model of one, and what it shares with the one it was made from. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { refusingTables, Table } from '../../runtime/base/table.ts';

const key = fc.oneof(
  fc.nat({ max: 40 }).map(String),
  fc.constantFrom('', '__proto__', 'constructor', 'ä', '😀', '\uffff'),
);
const step = fc.tuple(key, fc.option(fc.nat(), { freq: 3 }));
const steps = fc.array(step, { maxLength: 200 });

function walked(table: Table<number>, all: ReadonlyArray<readonly [string, number | null]>) {
  return all.reduce(
    (last, [at, row]) => (row === null ? last.without(at) : last.with(at, row)),
    table,
  );
}

const modelOf = (all: ReadonlyArray<readonly [string, number | null]>) => {
  const model = new Map<string, number>();
  for (const [at, row] of all) {
    if (row === null) model.delete(at);
    else model.set(at, row);
  }
  return model;
};
const byKey = ([one]: readonly [string, ...unknown[]], [other]: readonly [string, ...unknown[]]) =>
  one < other ? -1 : 1;

describe('a table', () => {
  test('has what was put into it, in the order of the keys', () => {
    fc.assert(
      fc.property(steps, key, (all, asked) => {
        const table = walked(Table.of<number>(), all);
        const model = modelOf(all);
        const sorted = [...model].sort(byKey);
        expect([...table]).toEqual(sorted);
        expect(table.size).toBe(model.size);
        expect(table.get(asked)).toBe(model.get(asked));
        expect(table.has(asked)).toBe(model.has(asked));
        expect([...table.entries(asked)]).toEqual(sorted.filter(([each]) => each >= asked));
        expect([...Table.of(model)]).toEqual(sorted);
        expect(table.last()).toEqual(sorted.at(-1));
        expect(JSON.stringify(table)).toBe(JSON.stringify(Object.fromEntries(sorted)));
      }),
    );
  });

  test('says what is another in a later one, and nothing else', () => {
    fc.assert(
      fc.property(steps, steps, (all, more) => {
        const before = walked(Table.of<number>(), all);
        const after = walked(before, more);
        const kept = modelOf(all);
        const now = modelOf([...all, ...more]);
        const expected = [
          ...[...kept.keys()].filter((at) => !now.has(at)).map((at) => [at, undefined] as const),
          ...[...now].filter(([at, row]) => kept.get(at) !== row),
        ].sort(byKey);
        expect([...Table.changes(before, after)]).toEqual(expected);
        expect([...before]).toEqual([...kept].sort(byKey));
      }),
    );
  });

  test('is itself when nothing changes, and empty when it is made of nothing', () => {
    const row = { n: 1 };
    const table = Table.of({ a: row });
    expect(table.with('a', row)).toBe(table);
    expect(table.without('b')).toBe(table);
    expect(Table.of(table)).toBe(table);
    expect(Table.of().size).toBe(0);
  });

  test('stays balanced, in whatever order rows come and go', () => {
    const many = 20_000;
    const names = Array.from({ length: many }, (_, index) => String(index).padStart(5, '0'));
    for (const order of [names, names.toReversed()]) {
      let table = Table.of<number>();
      for (const name of order) table = table.with(name, 0);
      // A row is found in a hundred comparisons and not in twenty thousand.
      expect(comparisons(table, '19999')).toBeLessThan(100);
      for (const name of order.slice(0, many - 10)) table = table.without(name);
      expect(table.size).toBe(10);
    }
  });

  test('is refused while something is stored that it would be a part of', () => {
    const thrown = refused(() => refusingTables(() => JSON.stringify({ rows: Table.of() })));
    expect(thrown).toMatchObject({ code: 'TABLE_MISPLACED' });
    expect(thrown?.message).toContain('stands at "rows"');
    expect(JSON.stringify({ rows: Table.of({ a: 1 }) })).toBe('{"rows":{"a":1}}');
  });
});

function refused(run: () => unknown): RuntimeError | undefined {
  try {
    run();
    return undefined;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RuntimeError);
    return thrown as RuntimeError;
  }
}

/** How often a key is looked at until it is found; each look asks what it is as text. */
function comparisons(table: Table<number>, name: string): number {
  let count = 0;
  const watched = {
    [Symbol.toPrimitive]: () => {
      count += 1;
      return name;
    },
  };
  table.has(watched as unknown as string);
  return count;
}

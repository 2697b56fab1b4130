import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contextText, jsonByParts } from '../../runtime/base/json-cache.ts';

/** Freezes a value and what is in it; every `every`th part, counted as they come. */
function freezeSome(value: unknown, every: number): void {
  let count = 0;
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    for (const inner of Object.values(part)) visit(inner);
    count += 1;
    if (count % every === 0) Object.freeze(part);
  };
  visit(value);
}

describe('a context written by parts', () => {
  test('is the same text as JSON.stringify makes, frozen or not, again and again', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 4 }), (value, every) => {
        freezeSome(value, every);
        for (let time = 0; time < 2; time += 1)
          expect(jsonByParts(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  test('leaves out what JSON leaves out, and lets values say how they are written', () => {
    const value = {
      nothing: undefined,
      call: () => 1,
      list: Object.freeze([undefined, Number.NaN, 1]),
      moment: Object.freeze({ at: new Date(0) }),
      own: Object.freeze({ toJSON: () => 'itself' }),
      map: new Map([[1, 2]]),
    };
    expect(jsonByParts(value)).toBe(JSON.stringify(value));
  });

  test('is that text also of what is no JSON, frozen or not', () => {
    const odd = fc.oneof(
      fc.constantFrom(undefined, Number.NaN, -0, Symbol('x'), new Map([[1, 2]]), new Date(0)),
      fc.constant(() => 1),
      // Told by its name, as JSON.stringify tells it.
      fc.constant({ toJSON: (name: string) => `at ${name}` }),
      fc.constant(Object.assign(() => 1, { toJSON: () => 'callable' })),
      fc.sparseArray(fc.nat(), { maxLength: 3 }),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        odd,
        fc.jsonValue(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('10', '9', '__proto__')), tie('value')),
      ),
    }));
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), value),
        fc.integer({ min: 1, max: 3 }),
        (context, every) => {
          freezeSome(context, every);
          for (let time = 0; time < 2; time += 1)
            expect(jsonByParts(context)).toBe(JSON.stringify(context));
        },
      ),
    );
  });

  test('writes again what works itself out, frozen or not', () => {
    let count = 0;
    const clock = Object.freeze({
      get now() {
        count += 1;
        return count;
      },
    });
    expect(jsonByParts({ clock })).toBe('{"clock":{"now":1}}');
    expect(jsonByParts({ clock })).toBe('{"clock":{"now":2}}');
  });

  test('writes what changes as it is now, wherever that is', () => {
    const inner = { count: 1 };
    const context = { frozen: Object.freeze({ inner }), list: [1] };
    expect(jsonByParts(context)).toBe('{"frozen":{"inner":{"count":1}},"list":[1]}');
    inner.count = 2;
    context.list.push(2);
    expect(jsonByParts(context)).toBe('{"frozen":{"inner":{"count":2}},"list":[1,2]}');
  });

  test('does not go through what never changes again, once it has been long', () => {
    let looks = 0;
    const entry = new Proxy(Object.freeze({ seen: 'x' }), {
      get(of, name) {
        looks += 1;
        return Reflect.get(of, name);
      },
    });
    const list = Object.freeze([entry]);
    contextText({ list }, 0);
    const before = looks;
    contextText({ list }, 100_000);
    const first = looks - before;
    contextText({ list }, 100_000);
    expect([first > 0, looks - before - first]).toEqual([true, 0]);
  });
});

/** Frames that are larger than a peer takes: cut, put together, and refused where they do not fit. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../runtime/base/errors.ts';
import {
  Assembly,
  cutFrame,
  FRAGMENTS_MAX,
  FRAME_ROOM_BYTES,
  isFragment,
  isLonger,
} from '../../runtime/delivery/fragments.ts';
import { SimulatedClock } from '../../simulator/testing.ts';

const MIB_4 = 4 * 2 ** 20;

function start() {
  const clock = new SimulatedClock();
  const stalls: number[] = [];
  const assembly = new Assembly(clock, 10_000, () => stalls.push(clock.now()));
  const add = (fragment: string, bytesMax = MIB_4) => {
    try {
      return assembly.add(fragment, bytesMax);
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError)) throw thrown;
      expect(thrown.code).toBe('ENVELOPE_MALFORMED');
      expect(thrown.message.length).toBeLessThan(200);
      return thrown;
    }
  };
  return { clock, stalls, assembly, add };
}

const overTheWire = (text: string): string => Buffer.from(text).toString();

const REFUSED = expect.any(RuntimeError);

describe('a frame that is too large', () => {
  test('is whole again on the other side, and no fragment is larger than was taken', () => {
    const text = fc.oneof(
      fc.string({ minLength: 1, maxLength: 2_000 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2_000 }),
      fc.integer({ min: 1, max: 1_000 }).map((length) => '😀€'.repeat(length)),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 100, max: 3_000 }), (body, bytesMax) => {
        const frame = `{${body}`;
        const fragments = cutFrame(frame, 7, bytesMax);
        const { assembly, add } = start();
        expect(isLonger(frame, bytesMax)).toBe(Buffer.byteLength(frame) > bytesMax);
        for (const fragment of fragments) {
          expect(Buffer.byteLength(fragment)).toBeLessThanOrEqual(bytesMax);
          // Not one character is torn apart: what travels as bytes is the same text afterwards.
          if (overTheWire(frame) === frame) expect(overTheWire(fragment)).toBe(fragment);
        }
        if (fragments.length === 1) expect(fragments).toEqual([frame]);
        else {
          expect(fragments.every(isFragment)).toBe(true);
          const whole = fragments.map((fragment) => add(fragment));
          expect(whole.slice(0, -1).every((part) => part === undefined)).toBe(true);
          expect(whole.at(-1)).toBe(frame);
          expect(assembly.isUnfinished).toBe(false);
        }
      }),
    );
  });

  test('is not cut into more fragments than anybody puts together', () => {
    expect(() => cutFrame('x'.repeat(100_000), 1, 100)).toThrow(RangeError);
    expect(() => cutFrame('x'.repeat(100), 1, 50)).toThrow(RangeError);
  });
});

describe('H36: a frame in fragments', () => {
  const cut = (id: number, length = 300) => cutFrame('x'.repeat(length), id, 100);
  const [first, second, third] = cut(1) as [string, string, string];

  test.each([
    ['with a gap', [first, third]],
    ['with a fragment twice', [first, second, second]],
    ['without its first fragment', [second]],
    ['with a fragment of another one', [first, cut(2)[1] as string]],
    ['with one more than announced', [...cut(1), 'p1:1:4:3:300:x']],
    ['with another number of fragments', [first, cut(1, 900)[1] as string]],
    ['with more in it than announced', ['p1:1:1:2:3:ab', 'p1:1:2:2:3:cd']],
    ['with more bytes in it than announced', ['p1:1:1:2:3:ab', 'p1:1:2:2:3:€']],
    ['with less in it than announced', ['p1:1:1:2:5:ab', 'p1:1:2:2:5:cd']],
    ['that is whole and yet cut', ['p1:1:1:1:2:ab']],
    ['of too many fragments', [`p1:1:1:${FRAGMENTS_MAX + 1}:5000:a`]],
    ['of no fragments', ['p1:1:0:0:2:ab']],
    ['that is too large', [`p1:1:1:9:${MIB_4 + FRAME_ROOM_BYTES + 1}:ab`]],
    ['whose numbers are none', ['p1:x:1:2:3:ab']],
    ['whose numbers never end', [`p1:${'9'.repeat(100)}`]],
    ['without numbers', ['p1:']],
    ['while another one is not whole', [first, cut(2)[0] as string]],
  ])('%s is refused once, and nothing of it is kept', (_, fragments) => {
    const { assembly, add } = start();
    const [last, ...before] = [...fragments].reverse() as [string, ...string[]];
    for (const fragment of before.reverse()) add(fragment);
    expect(add(last)).toEqual(REFUSED);
    expect(assembly.isUnfinished).toBe(false);
    // What comes then is put together as if nothing had been.
    const next = cut(50);
    expect(next.map((fragment) => add(fragment)).at(-1)).toBe('x'.repeat(300));
  });

  test('that was refused is one fault, however many fragments are still under way', () => {
    const { add } = start();
    const fragments = cutFrame('x'.repeat(200_000), 3, 1_000);
    const answers = fragments.map((fragment) => add(fragment, 10_000));
    expect(answers.filter((answer) => answer !== undefined)).toEqual([REFUSED]);
  });

  test('that does not go on is dropped 10 s after its last fragment, and told once', () => {
    const { clock, stalls, assembly, add } = start();
    const begunAt = clock.now();
    add(first);
    clock.advanceBy(9_999);
    add(second);
    clock.advanceBy(9_999);
    expect(stalls).toEqual([]);
    clock.advanceBy(1);
    expect(stalls).toEqual([begunAt + 19_999]);
    expect(assembly.isUnfinished).toBe(false);
    expect(add(third)).toBeUndefined();
    clock.advanceBy(60_000);
    expect(stalls).toHaveLength(1);
  });
});

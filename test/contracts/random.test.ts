import { describe, expect, test } from 'vitest';
import { systemRandom } from '../../runtime/system/random.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { describeRandom } from './describe-random.ts';

describeRandom('system chance', () => systemRandom());
describeRandom('seeded chance', () => new SeededRandom(1));
describeRandom('a stream of seeded chance', () => new SeededRandom(1).stream('network'));

describe('seeded chance', () => {
  const draw = (random: SeededRandom) => [random.next(), random.id(), random.next()];

  test('repeats with the same seed and name', () => {
    expect(draw(new SeededRandom(7, 'disk'))).toEqual(draw(new SeededRandom(7, 'disk')));
  });

  test('gives these values and no others, or every recorded seed would change its meaning', () => {
    const random = new SeededRandom(42).stream('network');
    expect([random.next(), random.id()]).toEqual([0.07333868811064792, '28EK4tCX6xcMyEXNerRYd']);
  });

  test('differs by seed, by name, and by the path of names', () => {
    const streams = [
      new SeededRandom(1),
      new SeededRandom(2),
      new SeededRandom(-1),
      new SeededRandom(1).stream('a'),
      new SeededRandom(1).stream('b'),
      new SeededRandom(1).stream('a').stream('b'),
      new SeededRandom(2 ** 40),
    ];
    expect(new Set(streams.map((random) => random.id())).size).toBe(streams.length);
  });

  test('keeps its streams apart: drawing from one moves no other', () => {
    const quiet = new SeededRandom(3);
    const busy = new SeededRandom(3);
    for (let count = 0; count < 100; count++) busy.next();
    busy.stream('disk').next();
    expect(draw(busy.stream('network'))).toEqual(draw(quiet.stream('network')));
  });

  test('starts ten thousand streams in different places', () => {
    const root = new SeededRandom(9);
    const firsts = Array.from({ length: 10_000 }, (_, index) =>
      root.stream(`actor/${index}`).next(),
    );
    expect(new Set(firsts).size).toBe(firsts.length);
    const mean = firsts.reduce((sum, first) => sum + first) / firsts.length;
    expect(mean).toBeGreaterThan(0.48);
    expect(mean).toBeLessThan(0.52);
  });

  test('refuses a seed that is not whole', () => {
    expect(() => new SeededRandom(0.5)).toThrow(RangeError);
  });
});

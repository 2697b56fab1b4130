import { expect, test } from 'vitest';
import {
  bridge,
  halves,
  isolated,
  oneWay,
  type Parting,
  ring,
  shattered,
} from '../../simulator/world/network/partition-shapes.ts';

const five = ['a', 'b', 'c', 'd', 'e'];

/** Which pairs of the five still reach each other. */
function whole(partings: readonly Parting[]): string[] {
  const isParted = (one: string, other: string) =>
    partings.some(
      ([side, far]) =>
        (side.includes(one) && far.includes(other)) || (side.includes(other) && far.includes(one)),
    );
  return five.flatMap((one, index) =>
    five.slice(index + 1).flatMap((other) => (isParted(one, other) ? [] : [one + other])),
  );
}

test.each<[string, readonly Parting[], string]>([
  ['halves', halves(five), 'ab cd ce de'],
  ['one node', isolated(['c'], five), 'ab ad ae bd be de'],
  ['two nodes', isolated(['c', 'a'], five), 'ac bd be de'],
  ['a ring', ring(five), 'ab ae bc cd de'],
  ['a bridge', bridge(five), 'ab ac bc cd ce de'],
  ['everybody alone', shattered(five), ''],
])('%s leaves the right pairs whole', (_, partings, expected) => {
  expect(whole(partings).join(' ')).toBe(expected);
});

test('one way is from the first half to the second', () => {
  expect(oneWay(['a', 'b', 'c'])).toEqual([[['a'], ['b', 'c']]]);
});

test('what cannot be parted is not', () => {
  for (const shape of [halves, ring, bridge, shattered, oneWay]) {
    expect(shape([])).toEqual([]);
    expect(shape(['a'])).toEqual([]);
  }
  expect(ring(['a', 'b', 'c'])).toEqual([]);
  expect(isolated(['z'], five)).toEqual([]);
});

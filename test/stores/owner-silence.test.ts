import { expect, test } from 'vitest';
import { OwnerSilence } from '../../stores/directory/owner-silence.ts';

const beat = (mark: string) => ({ mark, record: undefined });

test('adds up while nothing changes, and begins again with each beat', () => {
  const silence = new OwnerSilence(100);
  const looks: [string, number][] = [
    ['1', 50],
    ['1', 100],
    ['1', 180],
    ['2', 200],
    ['2', 260],
  ];
  expect(looks.map(([mark, at]) => silence.look(beat(mark), at))).toEqual([0, 50, 130, 0, 60]);
});

test('of a watcher that was paused itself counts as one look', () => {
  const silence = new OwnerSilence(100);
  silence.look(beat('1'), 0);
  expect(silence.look(beat('1'), 1_000_000)).toBe(100);
  expect(silence.look(beat('1'), 1_000_010)).toBe(110);
});

test('needs somebody who is silent', () => {
  const silence = new OwnerSilence(100);
  expect([0, 50, 99].map((at) => silence.look(undefined, at))).toEqual([0, 0, 0]);
  expect(silence.look(beat('1'), 120)).toBe(0);
});

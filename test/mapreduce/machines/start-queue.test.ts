/** Starts of commands, one in a turn of the event loop until a launcher makes them quick. */

import { describe, expect, test } from 'vitest';
import { StartQueue } from '../../../programs/mapreduce/start-queue.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';

function scene() {
  const turns: Array<() => void> = [];
  const started: string[] = [];
  const launcher = { isReady: false };
  const clock = { defer: (task: () => void) => void turns.push(task) } as unknown as Clock;
  const queue = new StartQueue(clock, () => launcher.isReady);
  return {
    started,
    launcher,
    queue,
    add: (...keys: readonly string[]) =>
      keys.map((key) => queue.add(key, () => void started.push(key))),
    /** The next turn of the event loop. */
    turn: () => {
      for (const task of turns.splice(0)) task();
    },
    get isAtRest() {
      return turns.length === 0;
    },
  };
}

describe('starts', () => {
  test('take a turn of the event loop each, in their order', () => {
    const { add, started, turn } = scene();
    add('a', 'b', 'c');
    const seen = [[...started]];
    for (let count = 0; count < 3; count++) {
      turn();
      seen.push([...started]);
    }
    expect(seen).toEqual([['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c']]);
  });

  test('that come while others wait stand behind them', () => {
    const { add, started, turn } = scene();
    add('a', 'b');
    turn();
    add('c');
    expect(started).toEqual(['a', 'b']);
    turn();
    expect(started).toEqual(['a', 'b', 'c']);
  });

  test('do not wait once they are quick, nor do those that have waited', () => {
    const all = scene();
    all.add('a', 'b', 'c');
    all.launcher.isReady = true;
    all.turn();
    expect(all.started).toEqual(['a', 'b', 'c']);
    expect(all.add('d', 'e')).toEqual([undefined, undefined]);
    expect(all.started).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('leave nothing behind when there are no more', () => {
    const all = scene();
    all.add('a', 'b');
    for (let count = 0; count < 3; count++) all.turn();
    expect(all.isAtRest).toBe(true);
    all.add('c');
    expect(all.started).toEqual(['a', 'b', 'c']);
  });

  test('that are dropped do not happen, and nobody waits for them', async () => {
    const { add, queue, started, turn } = scene();
    const [first, second] = add('a', 'b', 'c');
    queue.drop('b');
    queue.drop('none');
    turn();
    expect(started).toEqual(['a', 'c']);
    expect(first).toBeUndefined();
    await expect(second).resolves.toBeUndefined();
  });

  test('that throw tell those who wait, and hold up no other', async () => {
    const { add, queue, started, turn } = scene();
    const thrown = new Error('no such step');
    const fails = (): never => {
      throw thrown;
    };
    expect(() => queue.add('a', fails)).toThrow(thrown);
    const second = queue.add('b', fails);
    add('c');
    turn();
    turn();
    expect(started).toEqual(['c']);
    await expect(second).rejects.toBe(thrown);
  });
});

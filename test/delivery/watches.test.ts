/** Handles of actors of other nodes as somebody watches them: snapshots, ends, cuts and slow readers. */

import { describe, expect, test } from 'vitest';
import { codeOf } from '../engine/outcomes.ts';
import { observer, open } from './watched-nodes.ts';

describe('an actor of another node', () => {
  test('is seen as it is, and then as each commit leaves it', async () => {
    const { a, far, near } = await open();
    const seen = observer();
    let last: unknown;
    far.subscribe(seen);
    far.subscribe((snapshot) => {
      last = snapshot;
    });
    await a.settle();
    expect(seen.counts).toEqual([0]);
    for (let index = 0; index < 3; index += 1) {
      await near.send({ type: 'inc' });
      await a.settle();
    }
    expect(seen.counts).toEqual([0, 1, 2, 3]);
    const shown = last as ReturnType<typeof near.getSnapshot>;
    expect(shown.matches('counting')).toBe(true);
    expect(shown.hasTag('busy')).toBe(true);
    expect(shown.can({ type: 'end' })).toBe(true);
  });

  test('is told of once more to anybody who comes later, and of its end to all', async () => {
    const { a, b, far, near } = await open();
    const [first, later] = [observer(), observer()];
    far.subscribe(first);
    await a.settle();
    await near.send({ type: 'inc' });
    await a.settle();
    far.subscribe(later);
    await a.settle();
    expect(later.counts).toEqual([1]);
    await near.send({ type: 'end' });
    await a.settle();
    expect(first).toMatchObject({ counts: [0, 1, 1], ends: ['complete'] });
    expect(later).toMatchObject({ counts: [1, 1], ends: ['complete'] });
    expect(a.runtime.counts().watches).toBe(0);
    expect(b.runtime.counts().watchers).toBe(0);
    const after = observer();
    far.subscribe(after);
    await a.settle();
    expect(after).toMatchObject({ counts: [1], ends: ['complete'] });
  });

  test('that was stopped says why', async () => {
    const { a, far, near } = await open();
    const seen = observer();
    far.subscribe(seen);
    await a.settle();
    await near.send({ type: 'fail' }).catch(() => {});
    await a.settle();
    expect(seen).toMatchObject({ counts: [0, 0], ends: ['ACTOR_ENDED'] });
  });

  test('that is not born yet is waited for, and one of a kind that nobody knows is an error', async () => {
    const { a, b } = await open();
    const [seen, strange] = [observer(), observer()];
    a.runtime.actor('counter/2@b').subscribe(seen);
    a.runtime.actor('stranger/1@b' as never).subscribe(strange);
    await a.settle();
    expect(strange.ends).toEqual(['KIND_UNKNOWN']);
    await a.advance('5m');
    expect(seen).toMatchObject({ counts: [], ends: [] });
    await b.spawn('counter/2');
    await a.settle();
    expect(seen.counts).toEqual([0]);
  });

  test('is not watched any more once all have unsubscribed', async () => {
    const { a, b, far, near } = await open();
    const seen = observer();
    const subscriptions = [far.subscribe(seen), far.subscribe(observer())];
    await a.settle();
    expect([a.runtime.counts().watches, b.runtime.counts().watchers]).toEqual([1, 1]);
    for (const subscription of subscriptions) subscription.unsubscribe();
    await a.settle();
    expect([a.runtime.counts().watches, b.runtime.counts().watchers]).toEqual([0, 0]);
    await near.send({ type: 'inc' });
    await a.advance('1m');
    expect(seen.counts).toEqual([0]);
  });

  test('costs no commit and no turn to watch', async () => {
    const { a, b, far } = await open();
    const before = b.runtime.metrics();
    far.subscribe(observer());
    await a.advance('5m');
    expect(b.runtime.metrics()).toMatchObject({ turns: before.turns, commits: before.commits });
    expect(a.runtime.counts().watches).toBe(1);
  });
});

describe('a slow watcher', () => {
  test('sees the newest instead of all, and has one answer under way', async () => {
    const { a, far, near, network } = await open();
    network.delayMs = 1_000;
    let answers = 0;
    network.filter = (from, _, frame) => {
      if (from === 'b' && frame.includes('"snapshot"')) answers += 1;
      return true;
    };
    const seen = observer();
    far.subscribe(seen);
    await a.advance('5s');
    for (let index = 0; index < 500; index += 1) {
      await near.send({ type: 'inc' });
      await a.advance(10);
    }
    await a.advance('10s');
    expect(seen.counts.at(-1)).toBe(500);
    expect(seen.counts).toEqual([...seen.counts].sort((one, other) => one - other));
    // 5 s, and an answer every 2 s at the most.
    expect(answers).toBeLessThanOrEqual(6);
  });

  test('that takes frames too slowly is told nothing until it does, and then the newest', async () => {
    const { at, clock, network } = await open();
    let isCongested = false;
    const office = await at('office', 'office', {
      transport: () => ({ ...network.join('office'), isCongested: () => isCongested }),
    });
    const watching = await at('watching');
    await office.spawn('counter/1');
    await watching.settle();
    const seen = observer();
    watching.runtime.actor('counter/1@office').subscribe(seen);
    await watching.settle();
    isCongested = true;
    for (let index = 0; index < 50; index += 1) {
      await office.actor('counter/1').send({ type: 'inc' });
      await watching.advance(20);
    }
    expect(seen.counts).toEqual([0]);
    const before = clock.now();
    isCongested = false;
    await watching.advance('1s');
    expect(seen.counts).toEqual([0, 50]);
    expect(clock.now() - before).toBe(1_000);
    isCongested = true;
    await office.actor('counter/1').send({ type: 'end' });
    await watching.advance('1s');
    expect(seen.ends).toEqual([]);
    isCongested = false;
    await watching.advance('1s');
    expect(seen).toMatchObject({ counts: [0, 50, 50], ends: ['complete'] });
  });

  test('beyond the limit of watchers is refused, and ends when that stays so', async () => {
    const { a, far, at } = await open({ watchersMax: 1, watchLostMs: 20_000 });
    const c = await at('c');
    const seen = observer();
    far.subscribe(observer());
    await a.settle();
    c.runtime.actor('counter/1@b').subscribe(seen);
    await a.advance('1m');
    expect(seen).toMatchObject({ counts: [0], ends: ['WATCH_LOST'] });
    expect(c.runtime.metrics().watchesLost).toBe(1);
  });
});

test('answers that overtake each other never show what is older', async () => {
  const { a, far, near, network } = await open({ watchRepeatMs: 50 });
  network.faults = { lost: 0.1, doubled: 0.5, delayMaxMs: 2_000 };
  const seen = observer();
  far.subscribe(seen);
  for (let index = 1; index <= 400; index += 1) {
    await near.send({ type: 'inc' });
    await a.advance(25);
  }
  await a.advance('1m');
  expect(seen.counts.length).toBeGreaterThan(5);
  expect(seen.counts.at(-1)).toBe(400);
  expect(seen.counts).toEqual([...new Set(seen.counts)].sort((one, other) => one - other));
});

describe('a link that breaks', () => {
  test('goes on with the newest snapshot when it is back', async () => {
    const { a, b, far, near, network } = await open();
    const seen = observer();
    far.subscribe(seen);
    await a.settle();
    network.cut('a', 'b');
    await a.settle();
    expect(b.runtime.counts().watchers).toBe(0);
    for (let index = 0; index < 5; index += 1) await near.send({ type: 'inc' });
    await a.advance('30s');
    expect(seen.counts).toEqual([0]);
    network.heal('a', 'b');
    await a.advance('10s');
    expect(seen).toMatchObject({ counts: [0, 5], ends: [] });
    await near.send({ type: 'inc' });
    await a.settle();
    expect(seen.counts).toEqual([0, 5, 6]);
  });

  test('for good ends the watch with an error, and the clock has nothing left to do', async () => {
    const { a, far, network } = await open();
    const seen = observer();
    far.subscribe(seen);
    await a.settle();
    network.cut('a', 'b');
    await a.advance('55s');
    expect(seen.ends).toEqual([]);
    await a.advance('20s');
    expect(seen).toMatchObject({ counts: [0], ends: ['WATCH_LOST'] });
    expect(a.runtime.counts().watches).toBe(0);
  });

  test('loses no snapshot for long when frames are lost', async () => {
    const { a, far, near, network } = await open();
    network.faults = { lost: 0.5, doubled: 0.2, delayMaxMs: 50 };
    const seen = observer();
    far.subscribe(seen);
    for (let index = 1; index <= 20; index += 1) {
      await near.send({ type: 'inc' });
      await a.advance('1s');
    }
    await a.advance('2m');
    expect(seen.counts.at(-1)).toBe(20);
    expect(seen.counts).toEqual([...new Set(seen.counts)].sort((one, other) => one - other));
  });
});

test('a handle that is watched shows what is committed, nothing of it is kept where it was stopped', async () => {
  const { a, b, far } = await open();
  far.subscribe(observer());
  await a.settle();
  await b.stop();
  expect(b.runtime.counts()).toMatchObject({ watches: 0, watchers: 0 });
  await a.stop();
  expect(a.runtime.counts()).toMatchObject({ watches: 0, watchers: 0 });
  expect(await codeOf(far.send({ type: 'inc' }))).toBe('RUNTIME_STOPPED');
});

import { describe, expect, test } from 'vitest';
import type { GroupEnd } from '../../simulator/world/disk/disk.ts';
import { NodeClock } from '../../simulator/world/node-clock.ts';
import { begin, one, three } from './disk-scene.ts';

const TAKES_10 = { shape: 'fixed', ms: 10 } as const;

describe('a disk', () => {
  test('takes its time for each group, one after the other, and reports each when it is written', async () => {
    const { store, facts, settled, commit, pass, disk } = begin({ commit: TAKES_10 });
    commit('a', one('1'));
    commit('b', three('2'));
    await pass(15);
    expect(store.load('order/1@A')).toBe('1');
    disk.takes(undefined);
    commit('c', one('3'));
    await pass(100);
    commit('d', one('4', { fence: 0 }));
    await pass(1);
    expect(settled).toEqual(['10 a settled', '20 b settled', '20 c settled', '115 d FENCE_STALE']);
    expect(facts.map(({ change, error }) => [change, error])).toEqual([
      ['settled', undefined],
      ['settled', undefined],
      ['settled', undefined],
      ['refused', 'FENCE_STALE'],
    ]);
    expect(facts[0]).toEqual({
      type: 'commit',
      place: 'A',
      shard: 'A',
      fence: 1,
      change: 'settled',
      writes: [{ address: 'order/1@A', record: '1' }],
      addresses: ['order/1@A'],
      error: undefined,
    });
    expect(facts[3]?.writes).toEqual([]);
  });

  test('writes while the node is paused, which hears of it afterwards', async () => {
    const { nodeClock, store, settled, commit, pass } = begin({ commit: TAKES_10 });
    commit('a', one('1'));
    nodeClock.pause(500);
    await pass(100);
    expect(store.load('order/1@A')).toBe('1');
    expect(settled).toEqual([]);
    await pass(1_000);
    expect(settled).toEqual(['500 a settled']);
  });

  test('that stalls writes nothing until that is over', async () => {
    const { disk, settled, commit, pass } = begin();
    const stall = disk.stall();
    commit('a', one('1'));
    commit('b', one('2'));
    await pass(50);
    expect(settled).toEqual([]);
    stall.end();
    stall.end();
    commit('c', one('3'));
    await pass(50);
    commit('d', one('4'));
    await pass(1);
    expect(settled).toEqual(['50 a settled', '50 b settled', '50 c settled', '100 d settled']);
  });

  test('refuses every k-th group of a node, this many, and says why', async () => {
    const { disk, store, facts, settled, commit, pass } = begin();
    const refusal = disk.refuse({ every: 3, count: 2, reason: 'EDQUOT', node: 'n' });
    const elsewhere = disk.refuse({ node: 'm' });
    for (let number = 1; number <= 12; number++) {
      commit(`${number}`, one(`${number}`));
      await pass(1);
      if (number === 6) expect(store.load('order/1@A')).toBe('5');
    }
    const refused = settled.filter((line) => line.endsWith('COMMIT_REFUSED'));
    expect(refused).toEqual(['2 3 COMMIT_REFUSED', '5 6 COMMIT_REFUSED']);
    expect([refusal.hits, elsewhere.hits]).toEqual([2, 0]);
    expect(facts.filter(({ change }) => change === 'refused').map(({ writes }) => writes)).toEqual([
      [],
      [],
    ]);
    const always = disk.refuse({ share: 0.5 });
    for (let number = 0; number < 100; number++) commit('x', one('x'));
    await pass(1);
    expect(always.hits).toBeGreaterThan(30);
    expect(always.hits).toBeLessThan(70);
    always.end();
    commit('last', one('y'));
    await pass(1);
    expect(store.load('order/1@A')).toBe('y');
  });

  test.each<[GroupEnd, string, string]>([
    ['written', 'settled 3', '3'],
    ['lost', 'lost 0', '0'],
    ['split', 'split', '1 or 2'],
  ])('whose flush fails takes nothing of that life any more: %s', async (end, change, kept) => {
    const { clock, disk, store, changes, facts, settled, commit, pass } = begin();
    commit('a', three('old'));
    await pass(1);
    disk.failFlush(end);
    commit('b', three('new'));
    commit('c', three('later'));
    await pass(1);
    expect(settled.slice(1).map((line) => line.slice(2))).toEqual([
      'b STORE_FAILED',
      'c STORE_FAILED',
    ]);
    expect(changes()[1]).toMatch(change);
    expect(facts[1]?.error).toBe('STORE_FAILED');
    const texts = [1, 2, 3].map((key) => store.load(`order/${key}@A`));
    expect(`${texts.filter((text) => text === 'new').length}`).toMatch(
      new RegExp(`[${kept.replace(' or ', '')}]`),
    );
    disk.crash('n', 1);
    const next = disk.mount('n', 2, new NodeClock(clock));
    commit('d', one('again'), next);
    await pass(1);
    expect(next.load('order/1@A')).toBe('again');
  });
});

describe('a node that dies', () => {
  test('leaves its group whole, in part, or not at all, as chance has it', async () => {
    const ends = new Map<string, number>();
    for (let seed = 0; seed < 60; seed++) {
      const { clock, disk, changes, settled, commit, pass } = begin({ commit: TAKES_10 }, seed);
      commit('a', three('old'));
      await pass(10);
      commit('b', three('new'));
      await pass(5);
      disk.crash('n', 1);
      const next = disk.mount('n', 2, new NodeClock(clock));
      const kept = [1, 2, 3].map((key) => next.load(`order/${key}@A`));
      const count = kept.filter((text) => text === 'new').length;
      // The first ones were written, the others not.
      expect(kept).toEqual([1, 2, 3].map((key) => (key <= count ? 'new' : 'old')));
      expect(changes()[1]).toMatch(new RegExp(`(settled|split|lost) ${count}`));
      await pass(100);
      expect(settled).toEqual(['10 a settled']);
      ends.set(`${count}`, (ends.get(`${count}`) ?? 0) + 1);
    }
    expect([...ends.keys()].sort()).toEqual(['0', '1', '2', '3']);
  });

  test('loses what followed a group that was not written whole', async () => {
    const { clock, disk, changes, commit } = begin({ commit: TAKES_10 });
    commit('a', three('1'));
    commit('b', one('2'));
    disk.crash('n', 1, 'split');
    expect(changes()).toEqual([expect.stringMatching(/split [12]/), 'lost 0']);
    expect(disk.mount('n', 2, clock).load('order/1@A')).toBe('1');
  });

  test('writes nothing that its disk would have refused', async () => {
    const { clock, disk, changes, commit, pass } = begin({ commit: TAKES_10 });
    const other = disk.mount('m', 1, clock);
    commit('m', one('newer', { fence: 5 }), other);
    commit('n', one('stale', { fence: 4 }));
    await pass(10);
    disk.crash('n', 1, 'written');
    expect(changes()).toEqual(['settled 1', 'lost 0']);
    expect(other.load('order/1@A')).toBe('newer');
    disk.refuse({ node: 'm' });
    commit('m', one('refused', { fence: 5 }), other);
    disk.crash('m', 1, 'written');
    expect(changes().at(-1)).toBe('lost 0');
    expect(disk.recordOf('order/1@A')).toBe('newer');
  });

  test('neither reads nor writes any more, and the others go on', async () => {
    const { clock, disk, store, settled, commit, pass } = begin();
    commit('a', one('1'));
    await pass(1);
    const other = disk.mount('m', 1, clock);
    disk.crash('n', 1);
    disk.crash('n', 1);
    commit('b', one('2'));
    let isOpen = false;
    void store.open('A').then(() => {
      isOpen = true;
    });
    await store.close();
    await pass(100);
    expect(isOpen).toBe(false);
    expect(settled).toEqual(['0 a settled']);
    expect(other.load('order/1@A')).toBe('1');
    for (const read of [
      () => store.load('order/1@A'),
      () => [...store.entries()],
      () => store.fence('A'),
      () => store.query({ limit: 1 }),
    ])
      expect(read).toThrow('is over');
  });
});

import { describe, expect, test } from 'vitest';
import type { Group } from '../../runtime/store.ts';
import { SimulatedClock } from '../../simulator/clock.ts';
import { Disk, type DiskOptions, type GroupEnd } from '../../simulator/disk.ts';
import type { CommitFact } from '../../simulator/history.ts';
import { NodeClock } from '../../simulator/node-clock.ts';
import { SeededRandom } from '../../simulator/random.ts';
import { group, write } from '../contracts/store-groups.ts';

const TAKES_10 = { shape: 'fixed', ms: 10 } as const;

function begin(parts: Partial<DiskOptions> = {}, seed = 1) {
  const clock = new SimulatedClock({ tiebreak: new SeededRandom(seed, 'tiebreak') });
  const startedAt = clock.now();
  const facts: CommitFact[] = [];
  const disk = new Disk({
    place: 'A',
    clock,
    random: new SeededRandom(seed, 'disk'),
    onCommit: (_, fact) => facts.push(fact),
    ...parts,
  });
  const nodeClock = new NodeClock(clock);
  const store = disk.mount('n', 1, nodeClock);
  /** What was settled, and when. */
  const settled: string[] = [];
  const commit = (name: string, of: Group, into = store) =>
    into.commit(of, (refusal) => {
      const outcome = (refusal as { code?: string } | undefined)?.code ?? 'settled';
      settled.push(`${clock.now() - startedAt} ${name} ${outcome}`);
    });
  const pass = async (durationMs: number) => {
    const endsAt = clock.now() + durationMs;
    await new Promise(setImmediate);
    while (clock.step(endsAt)) await new Promise(setImmediate);
    clock.advanceTo(endsAt);
  };
  const changes = () => facts.map(({ change, writes }) => `${change} ${writes.length}`);
  return { clock, nodeClock, disk, store, facts, changes, settled, commit, pass };
}

const three = (text: string) => group([1, 2, 3].map((key) => write(`order/${key}@A`, text)));
const one = (text: string, parts: Partial<Group> = {}) => group([write('order/1@A', text)], parts);

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

  test('refuses every k-th group of a node, so many, and says why', async () => {
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

describe('what is on a disk', () => {
  test('can be kept, and put back whole: records, history, undelivered messages and fences', async () => {
    const { disk, store, commit, pass } = begin();
    const first = write('order/1@A', '1', { history: ['a', 'b'], undelivered: [['u', 'lost']] });
    commit('a', group([first, write('order/2@A', '2')], { fence: 3 }));
    commit('b', group([], { shard: 'B', fence: 7 }));
    await pass(1);
    const image = disk.keepImage();
    commit('c', one('later', { fence: 9, dropUndelivered: ['u'] }));
    commit('d', group([write('order/3@A', '3')], { fence: 9 }));
    await pass(1);
    expect(store.fence('A')).toBe(9);
    disk.restoreImage(image);
    expect([...store.entries()].map(([address]) => address)).toEqual(['order/1@A', 'order/2@A']);
    expect(store.load('order/1@A')).toBe('1');
    expect(store.history('order/1@A', 9)).toEqual(['a', 'b']);
    expect([...store.undelivered()]).toEqual([['u', 'lost']]);
    expect([store.fence('A'), store.fence('B')]).toEqual([3, 7]);
    expect(disk.keepImage()).toEqual(image);
  });

  test('is refused where it is damaged, and served elsewhere', async () => {
    const { disk, store, settled, commit, pass } = begin();
    commit('a', three('1'));
    await pass(1);
    expect(disk.damage('order/2@A')).toBe(true);
    expect(disk.damage('order/9@A')).toBe(false);
    expect([...store.damaged()]).toEqual([['order/2@A', 'its checksum is wrong']]);
    expect(() => store.load('order/2@A')).toThrow(/order\/2@A is damaged/);
    expect(() => store.history('order/2@A', 1)).toThrow(/damaged/);
    expect(store.load('order/1@A')).toBe('1');
    expect([...store.entries()].map(([address]) => address)).toEqual(['order/1@A', 'order/3@A']);
    expect(store.query({ limit: 9 }).rows).toHaveLength(2);
    commit('b', three('2'));
    commit('c', one('3'));
    await pass(1);
    expect(settled.slice(1)).toEqual(['1 b RECORD_DAMAGED', '1 c settled']);
    const image = disk.keepImage();
    disk.forget();
    expect([...store.damaged()]).toEqual([]);
    expect(store.load('order/1@A')).toBeUndefined();
    expect(store.fence('A')).toBe(0);
    disk.restoreImage(image);
    expect([...store.damaged()]).toHaveLength(1);
  });

  test('is not opened where a record is missing, until a copy is put back', async () => {
    const { disk, store, commit, pass } = begin();
    commit('a', three('1'));
    await pass(1);
    const image = disk.keepImage();
    expect(disk.lose('order/2@A')).toBe(true);
    expect(disk.addresses()).toEqual(['order/1@A', 'order/3@A']);
    await expect(store.open('A')).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    disk.restoreImage(image);
    await store.open('A');
    expect(store.load('order/2@A')).toBe('1');
  });

  test('is complete only when the last record that is missing is there again', async () => {
    const { disk, store, commit, pass } = begin();
    commit('a', three('1'));
    await pass(1);
    const image = disk.keepImage();
    disk.lose('order/1@A');
    disk.lose('order/2@A');
    disk.damage('order/3@A');
    disk.mend('order/1@A');
    await expect(store.open('A')).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    disk.mend('order/2@A');
    await store.open('A');
    expect([...store.damaged()]).toHaveLength(1);
    disk.mend('order/3@A');
    expect(store.load('order/3@A')).toBe('1');
    expect(disk.keepImage()).toEqual(image);
  });
});

import { describe, expect, test } from 'vitest';
import { group, write } from '../contracts/store-groups.ts';
import { begin, one, three } from './disk-scene.ts';

describe('what is on a disk', () => {
  test('can be kept, and put back whole: records, history, undelivered messages and fences', async () => {
    const { disk, store, commit, pass } = begin();
    const rows = new Map([['t', new Map([['k', 'row']])]]);
    const kept = { history: ['a', 'b'], undelivered: [['u', 'lost'] as const], rows };
    const first = write('order/1@A', '1', kept);
    commit('a', group([first, write('order/2@A', '2')], { fence: 3 }));
    commit('b', group([], { shard: 'B', fence: 7 }));
    await pass(1);
    const image = disk.keepImage();
    const gone = write('order/1@A', 'gone', { rows: new Map([['t', new Map([['k', null]])]]) });
    commit('b2', group([gone], { fence: 9 }));
    commit('c', one('later', { fence: 9, dropUndelivered: ['u'] }));
    commit('d', group([write('order/3@A', '3')], { fence: 9 }));
    await pass(1);
    expect(store.fence('A')).toBe(9);
    disk.restoreImage(image);
    expect([...store.entries()].map(([address]) => address)).toEqual(['order/1@A', 'order/2@A']);
    expect(store.load('order/1@A')).toBe('1');
    expect(store.history('order/1@A', 9)).toEqual(['a', 'b']);
    expect([...store.rows('order/1@A')]).toEqual([['t', 'k', 'row']]);
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

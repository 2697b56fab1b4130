import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Heap, type HeapItem, OUTSIDE } from '../runtime/base/heap.ts';

interface Item extends HeapItem {
  readonly id: number;
  key: number;
  order: number;
}

const itemOf = (id: number, key: number, order = id): Item => ({
  id,
  key,
  order,
  position: OUTSIDE,
});

const inOrder = (a: Item, b: Item) => a.key - b.key || a.order - b.order;

function popAll(heap: Heap<Item>): number[] {
  const ids: number[] = [];
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) ids.push(item.id);
  return ids;
}

describe('heap', () => {
  test('gives items by key, and by order where keys are equal', () => {
    const heap = new Heap<Item>();
    for (const item of [itemOf(1, 5), itemOf(2, 3), itemOf(4, 5), itemOf(3, 5)]) {
      heap.push(item, item.key, item.order);
    }
    expect(popAll(heap)).toEqual([2, 1, 3, 4]);
  });

  test('says where items are, and that they are gone', () => {
    const heap = new Heap<Item>();
    const [first, second] = [itemOf(1, 10), itemOf(2, 5)];
    heap.push(first, 10, 1);
    heap.push(second, 5, 2);
    expect([second.position, heap.keyOf(first), heap.orderOf(first)]).toEqual([0, 10, 1]);
    heap.remove(second);
    expect([second.position, first.position, heap.size]).toEqual([OUTSIDE, 0, 1]);
  });

  test('agrees with a sorted list, whatever is done to it', () => {
    const step = fc.record({
      what: fc.constantFrom('push', 'push', 'push', 'pop', 'move', 'remove', 'retain'),
      which: fc.nat(),
      key: fc.integer({ min: -20, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new Heap<Item>();
        let list: Item[] = [];
        let nextId = 0;
        for (const { what, which, key } of steps) {
          const item = list[which % list.length];
          if (what === 'push') {
            const added = itemOf(nextId, key, nextId++);
            heap.push(added, added.key, added.order);
            list.push(added);
          } else if (what === 'pop') {
            expect(heap.pop()).toBe(list.shift());
          } else if (what === 'retain') {
            heap.retain(({ id }) => id % 3 !== which % 3);
            list = list.filter(({ id }) => id % 3 !== which % 3);
          } else if (item !== undefined && what === 'move') {
            item.key = key;
            item.order = nextId++;
            heap.move(item, item.key, item.order);
          } else if (item !== undefined) {
            heap.remove(item);
            list = list.filter((other) => other !== item);
          }
          list.sort(inOrder);
          expect(heap.size).toBe(list.length);
          expect(heap.peek()).toBe(list[0]);
          expect(list.every((each) => heap.keyOf(each) === each.key)).toBe(true);
        }
        expect(popAll(heap)).toEqual(list.map(({ id }) => id));
      }),
    );
  });
});

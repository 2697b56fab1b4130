/** The order in which a mailbox gives what it was given: by urgency, and by sender in any case. */

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Item, Mailbox, message, TURNS_AHEAD_MAX } from '../../runtime/actor/mailbox.ts';
import { SPAWN_EVENT } from '../../runtime/machine.ts';

const NEW_WORK = new Set(['begin', SPAWN_EVENT]);

const pushed = fc.record({
  type: fc.constantFrom('begin', 'cancel', SPAWN_EVENT),
  from: fc.constantFrom('a', 'b', 'c', undefined),
});

test('what one sender sent stays in order, and nothing is lost', async () => {
  await fc.assert(
    fc.property(fc.array(fc.option(pushed), { maxLength: 80 }), (steps) => {
      const mailbox = new Mailbox(NEW_WORK);
      const given: Item[] = [];
      const taken: Item[] = [];
      for (const [counter, step] of steps.entries()) {
        if (step === null) {
          const item = mailbox.shift();
          if (item !== undefined) taken.push(item);
        } else {
          const { type, from } = step;
          const item = message({ type }, { from, counter });
          given.push(item);
          mailbox.push(item);
        }
        expect(mailbox.size).toBe(given.length - taken.length);
      }
      for (let item = mailbox.shift(); item !== undefined; item = mailbox.shift()) taken.push(item);
      expect(taken).toHaveLength(given.length);
      for (const sender of ['a', 'b', 'c', undefined]) {
        const of = (items: readonly Item[]) =>
          items.filter((item) => item.type === 'message' && item.from === sender);
        expect(of(taken)).toEqual(of(given));
      }
    }),
  );
});

const types = (items: Iterable<Item>): string[] =>
  [...items].map((item) => (item.type === 'message' ? item.event.type : item.type));

test('new work comes last, and what its sender sent after it comes after it', () => {
  const mailbox = new Mailbox(NEW_WORK);
  for (const [type, from] of [
    ['begin', 'a'],
    ['cancel', 'a'],
    ['pause', 'b'],
  ] as const)
    mailbox.push(message({ type }, { from }));
  mailbox.push({ type: 'timersDue' });
  expect(types(mailbox)).toEqual(['pause', 'timersDue', 'begin', 'cancel']);
});

test('a birth lets nobody pass', () => {
  const mailbox = new Mailbox(NEW_WORK);
  mailbox.push(message({ type: SPAWN_EVENT }, { from: 'a' }));
  mailbox.push(message({ type: 'cancel' }, { from: 'b' }));
  expect(types(mailbox)).toEqual([SPAWN_EVENT, 'cancel']);
});

test('is as urgent as the most urgent that waits, in whichever place', () => {
  const mailbox = new Mailbox(NEW_WORK);
  const after = (item: Item) => {
    mailbox.push(item);
    return mailbox.urgency;
  };
  expect(after(message({ type: SPAWN_EVENT }, { from: 'a' }))).toBe(2);
  expect(after(message({ type: 'begin' }, { from: 'a' }))).toBe(2);
  expect(after(message({ type: 'cancel' }, { from: 'a' }))).toBe(1);
  expect(after({ type: 'timersDue' })).toBe(0);
  const urgencies = [];
  while (mailbox.shift() !== undefined) urgencies.push(mailbox.urgency);
  // The deadline came behind the spawn; the cancel can be reached by way of its sender's new work only.
  expect(urgencies.slice(0, 3)).toEqual([0, 1, 1]);
});

test('new work has its turn when many others were taken before it', () => {
  const mailbox = new Mailbox(NEW_WORK);
  mailbox.push(message({ type: 'begin' }, { from: 'a' }));
  const taken: string[] = [];
  for (let turn = 0; turn < 2 * TURNS_AHEAD_MAX.value; turn += 1) {
    mailbox.push(message({ type: 'cancel' }, { from: 'b' }));
    mailbox.push(message({ type: 'cancel' }, { from: 'b' }));
    taken.push(...types([mailbox.shift() as Item]));
  }
  expect(taken.indexOf('begin')).toBe(TURNS_AHEAD_MAX.value);
});

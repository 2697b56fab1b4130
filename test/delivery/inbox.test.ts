/** The inbox against a set of everything it ever took. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Inbox, type StoredInbox, WINDOW_MAX as WINDOW } from '../../runtime/actor/inbox.ts';

const WINDOW_MAX = WINDOW.value;

const LIMITS = { sendersMax: 8, dedupRetentionMs: 1_000_000 };
const RULES = { place: 'here', limits: LIMITS };

function stored(inbox: Inbox): StoredInbox {
  return inbox.size === 0 ? {} : JSON.parse(inbox.encode());
}

function again(inbox: Inbox): Inbox {
  return Inbox.restore(JSON.parse(JSON.stringify(stored(inbox))));
}

/** What `admission.ts` does with a message that has an identity. */
function offer(inbox: Inbox, from: string, counter: number, after: number | undefined, at = 0) {
  inbox.expire(from, at - LIMITS.dedupRetentionMs, () => false);
  if (inbox.has(from, counter)) return 'known';
  if (inbox.isEarly(from, counter, after)) return 'early';
  return inbox.take(from, counter, after, at, RULES) ? 'taken' : 'full';
}

describe('a sender with an order', () => {
  test('has each of its messages taken once and in order, whatever arrives when', () => {
    // Counters have gaps: the missing ones went to other receivers.
    const gaps = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 40 });
    const steps = fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 300 });
    fc.assert(
      fc.property(gaps, steps, (steps1, arrivals) => {
        let counter = 0;
        const counters = steps1.map((gap) => (counter += gap));
        const settled = new Set<number>();
        const taken: number[] = [];
        let inbox = new Inbox();
        const arrive = (index: number): void => {
          const number = counters[index] as number;
          // The sender names the last one below it that it has not seen settled.
          const open = counters.slice(0, index).filter((known) => !settled.has(known));
          const outcome = offer(inbox, 'a', number, open.at(-1) ?? 0);
          if (outcome === 'taken') taken.push(number);
          if (outcome === 'taken' || outcome === 'known') settled.add(number);
          expect(stored(inbox).a?.length ?? 2).toBe(2);
        };
        for (const [pick, isRestored] of arrivals) {
          if (isRestored) inbox = again(inbox);
          arrive(pick % counters.length);
        }
        for (let round = 0; round < 2; round += 1)
          for (const index of counters.keys()) arrive(index);
        expect(taken).toEqual(counters);
      }),
    );
  });

  test('has a message taken late exactly when the one before it is', () => {
    const inbox = new Inbox();
    expect(offer(inbox, 'a', 5, 3)).toBe('early');
    expect(offer(inbox, 'a', 3, 0)).toBe('taken');
    expect(offer(inbox, 'a', 5, 3)).toBe('taken');
    expect(offer(inbox, 'a', 3, 0)).toBe('known');
  });
});

describe('a sender without an order', () => {
  test('has each of its messages taken once, within a window of 64', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 150 }), fc.boolean()), { maxLength: 400 }),
        (arrivals) => {
          const taken = new Set<number>();
          let inbox = new Inbox();
          for (const [counter, isRestored] of arrivals) {
            if (isRestored) inbox = again(inbox);
            const outcome = offer(inbox, 'a', counter, undefined);
            expect(outcome === 'known').toBe(taken.has(counter));
            if (outcome === 'taken') taken.add(counter);
            expect((stored(inbox).a?.length ?? 2) - 2).toBeLessThanOrEqual(WINDOW_MAX);
          }
          for (let counter = 1; counter <= 150; counter += 1)
            expect(inbox.has('a', counter)).toBe(taken.has(counter));
        },
      ),
    );
  });

  test('is asked to wait once 64 of its messages came before one that is missing', () => {
    const inbox = new Inbox();
    for (let counter = 2; counter < 2 + WINDOW_MAX; counter += 1)
      expect(offer(inbox, 'a', counter, undefined)).toBe('taken');
    expect(offer(inbox, 'a', 2 + WINDOW_MAX, undefined)).toBe('early');
    expect(offer(inbox, 'a', 1, undefined)).toBe('taken');
    expect(offer(inbox, 'a', 2 + WINDOW_MAX, undefined)).toBe('taken');
    expect(stored(inbox).a).toEqual([2 + WINDOW_MAX, 0]);
  });
});

describe('many senders', () => {
  const hear = (inbox: Inbox, sender: string, counter: number, at: number): void => {
    inbox.expire(sender, at - 1_000, () => false);
    const limits = { sendersMax: 1_000, dedupRetentionMs: 1_000 };
    inbox.take(sender, counter, 0, at, { place: 'here', limits });
  };

  test('are remembered up to the limit; a further one is refused until another is forgotten', () => {
    const inbox = new Inbox();
    for (let sender = 0; sender < LIMITS.sendersMax; sender += 1)
      expect(offer(inbox, `s${sender}`, 1, 0)).toBe('taken');
    expect(offer(inbox, 'late', 1, 0)).toBe('full');
    expect(offer(inbox, 's3', 2, 0)).toBe('taken');
    inbox.forget('s0');
    expect(offer(inbox, 'late', 1, 0)).toBe('taken');
  });

  test('are forgotten when they were silent for too long, however busy one of them is', () => {
    let inbox = new Inbox();
    hear(inbox, 'busy', 1, 0);
    for (let sender = 0; sender < 20; sender += 1) hear(inbox, `s${sender}`, 1, sender);
    for (let at = 100; at <= 1_500; at += 10) hear(inbox, 'busy', 1 + at, at);
    inbox = again(inbox);
    hear(inbox, 'new', 1, 1_500);
    expect(Object.keys(stored(inbox)).sort()).toEqual(['busy', 'new']);
  });

  test('keep their marks for the whole retention time, and are gone soon after', () => {
    const heard = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.nat(400)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(heard, (messages) => {
        const inbox = new Inbox();
        const lastAt = new Map<string, number>();
        let at = 0;
        let counter = 0;
        for (const [sender, pauseMs] of messages) {
          at += pauseMs;
          counter += 1;
          const isNew = !(`s${sender}` in stored(inbox));
          hear(inbox, `s${sender}`, counter, at);
          lastAt.set(`s${sender}`, at);
          for (const [name, time] of lastAt) {
            if (at - time < 1_000) expect(name in stored(inbox)).toBe(true);
            else if (isNew) expect(name in stored(inbox)).toBe(false);
          }
        }
      }),
    );
  });
});

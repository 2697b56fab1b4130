/**
 * Deadlines: never early, never twice, at their own moments, in their order; a replaced or
 * cancelled one never comes. And who goes first when a message and a deadline meet.
 */

import { describe, expect, test } from 'vitest';
import { assign, cancel, raise, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { faultyStore } from './faulty-store.ts';
import { during, storedOf } from './outcomes.ts';

const YEAR_MS = 365 * 86_400_000;

interface Stamps {
  readonly at?: number;
  readonly dueAt?: number;
}

type AlarmEvent = Stamps &
  (
    | { type: 'arm'; id: string; delayMs: number }
    | { type: 'armFor'; id: string; delayMs: number; address: string }
    | { type: 'cancel'; id: string }
    | { type: 'note'; text: string }
    | { type: 'rung'; id: string }
  );

const alarmMachine = setup({
  types: {
    context: {} as { log: Array<readonly [text: string, at: number, dueAt: number | undefined]> },
    events: {} as AlarmEvent,
  },
  actions: {
    note: assign({
      log: ({ context, event }) => [
        ...context.log,
        [
          event.type === 'rung' ? event.id : event.type === 'note' ? event.text : event.type,
          event.at ?? -1,
          event.dueAt,
        ] as const,
      ],
    }),
  },
}).createMachine({
  context: { log: [] },
  on: {
    arm: {
      actions: raise(({ event }) => ({ type: 'rung', id: (event as { id: string }).id }) as const, {
        delay: ({ event }) => (event as { delayMs: number }).delayMs,
        id: 'dynamic',
      }),
    },
    armFor: {
      actions: sendTo(
        ({ event }) => to((event as { address: string }).address),
        ({ event }) => ({ type: 'rung', id: (event as { id: string }).id }),
        { delay: ({ event }) => (event as { delayMs: number }).delayMs, id: 'foreign' },
      ),
    },
    cancel: { actions: cancel(({ event }) => (event as { id: string }).id) },
    note: { actions: 'note' },
    rung: { actions: 'note' },
  },
});

/** Two deadlines and a message in every order; see the tie tests. */
const tieMachine = setup({
  types: {
    context: {} as { log: string[] },
    events: {} as Stamps & ({ type: 'note'; text: string } | { type: 'slow' }),
  },
  delays: { first: 100, second: 200 },
}).createMachine({
  context: { log: [] },
  type: 'parallel',
  on: {
    note: { actions: assign({ log: ({ context, event }) => [...context.log, event.text] }) },
  },
  states: {
    a: {
      initial: 'wait',
      states: {
        wait: { after: { first: 'over' } },
        over: { entry: assign({ log: ({ context }) => [...context.log, 'first'] }) },
      },
    },
    b: {
      initial: 'wait',
      states: {
        wait: { after: { second: 'over' } },
        over: { entry: assign({ log: ({ context }) => [...context.log, 'second'] }) },
      },
    },
  },
});

async function open() {
  const rt = await testRuntime({ kinds: { alarm: alarmMachine } });
  const alarm = await rt.spawn('alarm/1');
  const startAt = rt.now();
  const log = () => alarm.getSnapshot().context.log.map(([text, at]) => [text, at - startAt]);
  return { rt, alarm, startAt, log };
}

describe('a deadline', () => {
  test('years away comes on the millisecond, and says when it was due', async () => {
    const { rt, alarm, startAt } = await open();
    await alarm.send({ type: 'arm', id: 'far', delayMs: 40 * YEAR_MS });
    await rt.advance(40 * YEAR_MS - 1);
    await rt.crash();
    expect(alarm.getSnapshot().context.log).toEqual([]);
    await rt.advance(1);
    const dueAt = startAt + 40 * YEAR_MS;
    expect(alarm.getSnapshot().context.log).toEqual([['far', dueAt, dueAt]]);
    await rt.advance(100 * YEAR_MS);
    expect(alarm.getSnapshot().context.log).toHaveLength(1);
  });

  test('that was armed again comes once, at its new moment', async () => {
    const { rt, alarm, log } = await open();
    await alarm.send({ type: 'arm', id: 'old', delayMs: 100 });
    await rt.advance(60);
    await alarm.send({ type: 'arm', id: 'new', delayMs: 100 });
    await rt.advance(1_000);
    expect(log()).toEqual([['new', 160]]);
    await alarm.send({ type: 'arm', id: 'later', delayMs: 500 });
    await alarm.send({ type: 'arm', id: 'sooner', delayMs: 5 });
    await rt.advance(1_000);
    expect(log()).toEqual([
      ['new', 160],
      ['sooner', 1_065],
    ]);
  });

  test('that was cancelled never comes', async () => {
    const { rt, alarm, log } = await open();
    await alarm.send({ type: 'arm', id: 'x', delayMs: 100 });
    await alarm.send({ type: 'cancel', id: 'dynamic' });
    await alarm.send({ type: 'cancel', id: 'nothing' });
    await rt.advance(1_000);
    expect(log()).toEqual([]);
    expect(storedOf(rt.store, alarm.address).timers).toBeUndefined();
    expect(rt.clock.nextDueAt()).toBeUndefined();
  });

  test('that is armed again or cancelled while its wake-up waits in the mailbox does not come', async () => {
    for (const change of ['arm', 'cancel'] as const) {
      const { rt, alarm, log } = await open();
      await alarm.send({ type: 'arm', id: 'old', delayMs: 100 });
      await rt.advance(99);
      // Messages wait, then the wake-up behind them; the messages come first.
      const event =
        change === 'arm'
          ? ({ type: 'arm', id: 'new', delayMs: 50 } as const)
          : ({ type: 'cancel', id: 'dynamic' } as const);
      void alarm.send({ type: 'note', text: 'before' });
      void alarm.send(event);
      rt.clock.advanceBy(1);
      await rt.settle();
      expect(log()).toEqual([['before', 100]]);
      await rt.advance(500);
      expect(log().slice(1)).toEqual(change === 'arm' ? [['new', 150]] : []);
    }
  });

  test('of zero comes in a turn of its own, at once', async () => {
    const { rt, alarm, log } = await open();
    await alarm.send({ type: 'arm', id: 'now', delayMs: 0 });
    await rt.settle();
    expect(log()).toEqual([['now', 0]]);
  });

  test('between two milliseconds comes at the later one', async () => {
    const { rt, alarm, log } = await open();
    await alarm.send({ type: 'arm', id: 'x', delayMs: 10.4 });
    await rt.advance(10);
    expect(log()).toEqual([]);
    await rt.advance(1);
    expect(log()).toEqual([['x', 11]]);
  });

  test('for another actor is a message that is delivered once, also after a crash', async () => {
    const { rt, alarm } = await open();
    const other = await rt.spawn('alarm/2');
    await alarm.send({ type: 'armFor', id: 'hello', delayMs: 5_000, address: 'alarm/2' });
    await rt.advance(3_000);
    await rt.crash();
    await rt.advance(3_000);
    await rt.crash();
    await rt.advance(3_000);
    expect(other.getSnapshot().context.log.map(([text]) => text)).toEqual(['hello']);
    expect(alarm.getSnapshot().context.log).toEqual([]);
    // Cancelled before it is due, it never leaves.
    await alarm.send({ type: 'armFor', id: 'again', delayMs: 5_000, address: 'alarm/2' });
    await alarm.send({ type: 'cancel', id: 'foreign' });
    await rt.advance('1h');
    expect(other.getSnapshot().context.log).toHaveLength(1);
    expect(storedOf(rt.store, alarm.address).outbox).toBeUndefined();
  });
});

describe('deadlines that are past due', () => {
  test('come in the order of their moments, of equal ones in the order of arming', async () => {
    const { rt } = await open();
    const tie = await testRuntime({ kinds: { tie: tieMachine }, clock: rt.clock });
    const one = await tie.spawn('tie/1');
    tie.runtime.crash();
    rt.clock.advanceBy(10_000);
    await tie.start();
    expect(one.getSnapshot().context.log).toEqual(['first', 'second']);
  });
});

describe('time', () => {
  test('comes on every event and never goes back', async () => {
    const { rt, alarm } = await open();
    for (let index = 0; index < 20; index += 1) {
      void alarm.send({ type: 'note', text: `${index}` });
      void alarm.send({ type: 'arm', id: `rung ${index}`, delayMs: index % 3 });
      if (index % 5 === 0) await rt.advance(index);
    }
    await rt.advance(100);
    const ats = alarm.getSnapshot().context.log.map(([, at]) => at);
    expect(ats.length).toBeGreaterThan(20);
    expect(ats).toEqual([...ats].sort((a, b) => a - b));
    expect(ats.every((at) => Number.isSafeInteger(at) && at > 0)).toBe(true);
  });

  test('cannot be given by anybody who sends', async () => {
    const { rt, alarm } = await open();
    await alarm.send({ type: 'note', text: 'forged', at: 5 } as never);
    const [[, at] = []] = alarm.getSnapshot().context.log;
    expect(at).toBe(rt.now());
  });
});

describe('a message and a deadline at the same time', () => {
  async function race(ties: 'messages' | 'timers', latenessMs: number) {
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const rt = await testRuntime({
      kinds: { tie: tieMachine },
      options: { tie: { ties } },
      clock,
      store,
    });
    const one = await rt.spawn('tie/1');
    await rt.advance(99);
    // The message waits for its turn while the loop stands still; then the deadline is due too.
    const sent = one.send({ type: 'note', text: 'message' });
    clock.advanceBy(1 + latenessMs);
    await during(rt, sent);
    await rt.settle();
    return one.getSnapshot().context.log;
  }

  test('messages first, unless the kind says otherwise', async () => {
    expect(await race('messages', 0)).toEqual(['message', 'first']);
    expect(await race('timers', 0)).toEqual(['first', 'message']);
  });

  test('the same after the loop stood still for long', async () => {
    expect(await race('messages', 5_000)).toEqual(['message', 'first', 'second']);
    expect(await race('timers', 5_000)).toEqual(['first', 'second', 'message']);
  });

  test('a deadline that is not due yet waits for its moment either way', async () => {
    for (const ties of ['messages', 'timers'] as const) {
      const rt = await testRuntime({ kinds: { tie: tieMachine }, options: { tie: { ties } } });
      const one = await rt.spawn('tie/1');
      await rt.advance(99);
      await one.send({ type: 'note', text: 'message' });
      await rt.advance(1);
      expect(one.getSnapshot().context.log).toEqual(['message', 'first']);
    }
  });

  test('messages that waited when the deadline was noticed are all taken before it', async () => {
    const clock = new SimulatedClock();
    const rt = await testRuntime({ kinds: { tie: tieMachine }, clock });
    const one = await rt.spawn('tie/1');
    const sends = ['a', 'b', 'c'].map((text) => one.send({ type: 'note', text }));
    clock.advanceBy(150);
    await during(rt, Promise.all(sends));
    await rt.settle();
    expect(one.getSnapshot().context.log).toEqual(['a', 'b', 'c', 'first']);
  });
});

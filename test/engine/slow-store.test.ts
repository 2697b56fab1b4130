/**
 * A store that takes its time: the engine goes on computing, and lets nothing leave
 * before its commit is settled, in the order of the commits.
 */

import { expect, test } from 'vitest';
import { assign, emit, sendTo, setup } from 'xstate';
import { reply, to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

type CounterEvent =
  | { type: 'go'; token: string; peer?: string; replyTo?: string; at?: number }
  | { type: 'stop' };

const counterMachine = setup({
  types: {
    context: {} as { tokens: string[]; ats: number[] },
    events: {} as CounterEvent,
    emitted: {} as { type: 'went'; token: string },
  },
  actions: { print: (_, _params: { token: string }) => {} },
}).createMachine({
  context: { tokens: [], ats: [] },
  initial: 'going',
  states: {
    going: {
      on: {
        go: {
          actions: [
            assign({
              tokens: ({ context, event }) => [...context.tokens, event.token],
              ats: ({ context, event }) => [...context.ats, event.at ?? -1],
            }),
            { type: 'print', params: ({ event }) => ({ token: event.token }) },
            emit(({ event }) => ({ type: 'went', token: event.token })),
            sendTo(
              ({ event }) => to(event.peer ?? ''),
              ({ event }) => ({ type: 'go', token: `${event.token}, passed on` }),
            ),
            reply(({ context }) => context.tokens.length),
          ],
        },
        stop: 'stopped',
      },
    },
    stopped: { type: 'final' },
  },
});

async function open(delayTasks: number) {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const log: string[] = [];
  const rt = await testRuntime({
    kinds: { counter: counterMachine },
    options: {
      counter: { perform: { print: ({ params }) => log.push(`performed ${params.token}`) } },
    },
    clock,
    store,
  });
  const one = await rt.spawn('counter/1');
  const two = await rt.spawn('counter/2');
  for (const [name, handle] of Object.entries({ one, two })) {
    handle.subscribe(({ context }) => log.push(`${name} shown ${context.tokens.at(-1)}`));
    handle.on('went', ({ token }) => log.push(`${name} emitted ${token}`));
  }
  store.delayTasks = delayTasks;
  return { rt, clock, store, one, two, log };
}

/** Lets promises run, and no clock task. */
async function microtasks(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

test('nothing of a turn is released before its commit is settled', async () => {
  const { clock, store, one, two, log } = await open(4);
  const sent = one.send({ type: 'go', token: 'a', peer: 'counter/2' });
  void sent.then(() => log.push('send a resolved'));
  void one.ask({ type: 'go', token: 'b' }).then((value) => log.push(`ask b answered ${value}`));
  for (let task = 0; task < 4; task += 1) {
    await microtasks();
    expect(log).toEqual([]);
    expect(one.getSnapshot().context.tokens).toEqual([]);
    expect(store.waiting).toBe(1);
    clock.runDue();
  }
  await microtasks();
  expect(log).toEqual([
    'performed a',
    'one emitted a',
    'one shown a',
    // What was told to the other actor is a turn of its own, in the same group.
    'performed a, passed on',
    'two emitted a, passed on',
    'two shown a, passed on',
    'performed b',
    'one emitted b',
    'one shown b',
    'send a resolved',
    'ask b answered 2',
  ]);
  expect(two.getSnapshot().context.tokens).toEqual(['a, passed on']);
});

test('the next group is computed while the last one commits, and released after it', async () => {
  const { clock, store, one, two, log } = await open(3);
  const groups = store.settled;
  void one.send({ type: 'go', token: 'a' });
  await microtasks();
  expect(store.waiting).toBe(1);
  void two.send({ type: 'go', token: 'b' });
  void one.send({ type: 'go', token: 'c' });
  await microtasks();
  // Computed already: an actor's last turn is at the time of the sends, though nothing is committed.
  expect(store.waiting).toBe(1);
  clock.advanceBy(60_000);
  for (let task = 0; task < 20; task += 1) {
    await microtasks();
    clock.runDue();
  }
  await microtasks();
  expect(store.settled).toBe(groups + 2);
  expect(log.filter((line) => line.includes('shown'))).toEqual([
    'one shown a',
    'two shown b',
    'one shown c',
  ]);
  const [first, second] = one.getSnapshot().context.ats;
  expect(second).toBe(first);
});

test('many turns of one actor become one write of its record', async () => {
  const { rt, store, one } = await open(2);
  const groups = store.settled;
  const sends = Array.from({ length: 100 }, (_, index) =>
    one.send({ type: 'go', token: `${index}` }),
  );
  await during(rt, Promise.all(sends));
  expect(one.getSnapshot().context.tokens).toHaveLength(100);
  expect(store.settled - groups).toBeLessThanOrEqual(2);
  expect(rt.runtime.history('counter/1')).toHaveLength(100);
});

test('a duplicate waits for the commit of the first', async () => {
  const { clock, one } = await open(3);
  const log: string[] = [];
  void one.send({ type: 'go', token: 'a' }, { id: 'x' }).then(() => log.push('first'));
  void one.send({ type: 'go', token: 'a' }, { id: 'x' }).then(() => log.push('second'));
  await microtasks();
  expect(log).toEqual([]);
  for (let task = 0; task < 10; task += 1) {
    clock.runDue();
    await microtasks();
  }
  expect(log).toEqual(['first', 'second']);
  expect(one.getSnapshot().context.tokens).toEqual(['a']);
});

test('a second birth waits for the commit of the first', async () => {
  const { rt, store } = await open(3);
  const births = Promise.all([
    codeOf(rt.runtime.spawn('counter/3')),
    codeOf(rt.runtime.spawn('counter/3')),
    codeOf(rt.runtime.spawn('counter/3', { ifAbsent: true })),
  ]);
  expect(await during(rt, births)).toEqual(['taken', 'ACTOR_EXISTS', 'taken']);
  store.refuse = () => diskFull();
  const refused = Promise.all([
    codeOf(rt.runtime.spawn('counter/4')),
    codeOf(rt.runtime.spawn('counter/4', { ifAbsent: true })),
  ]);
  expect(await during(rt, refused)).toEqual(['COMMIT_REFUSED', 'COMMIT_REFUSED']);
});

test('an end that is not committed yet is not told to anybody', async () => {
  const { rt, store, one, two } = await open(3);
  store.refuse = () => diskFull();
  const stopped = codeOf(one.send({ type: 'stop' }));
  await microtasks();
  const late = codeOf(one.send({ type: 'go', token: 'late' }));
  await microtasks();
  expect(await during(rt, Promise.all([stopped, late]))).toEqual([
    'COMMIT_REFUSED',
    'COMMIT_REFUSED',
  ]);
  store.refuse = () => undefined;
  // The same from another actor: a message must not be given up for an end that never was.
  let refusals = 0;
  store.refuse = ({ writes }) => {
    const isEnd = writes.some(
      ({ address, entry }) => address === one.address && entry?.status === 'done',
    );
    if (isEnd) refusals += 1;
    return isEnd && refusals <= 1 ? diskFull() : undefined;
  };
  await during(
    rt,
    two.send({ type: 'go', token: 'x', peer: 'counter/1' }).then(() => {}),
  );
  void codeOf(one.send({ type: 'stop' }));
  await rt.advance('10s');
  expect(rt.runtime.undelivered()).toEqual([]);
  expect(storedOf(store, one.address).snapshot.context.tokens).toEqual(['x, passed on']);
});

test('a crash forgets what was not settled and keeps what was', async () => {
  const { rt, clock, store, one } = await open(3);
  const first = codeOf(one.send({ type: 'go', token: 'a' }));
  await during(rt, first);
  const second = codeOf(one.send({ type: 'go', token: 'b' }));
  await microtasks();
  expect(store.waiting).toBe(1);
  rt.runtime.crash();
  expect(await second).toBe('NOT_HOSTED');
  store.refuse = ({ fence }) => (fence === 1 ? diskFull() : undefined);
  while (clock.runDue()) await microtasks();
  await rt.start();
  expect(rt.actor('counter/1').getSnapshot().context.tokens).toEqual(['a']);
});

test('a new holder reads nothing before the group of the old one is settled', async () => {
  const { rt, one } = await open(3);
  // A message that nobody answers: the actor is read again as soon as its place is hosted.
  await during(rt, one.send({ type: 'go', token: 'a', peer: 'counter/1@elsewhere' }));
  // The crash comes while the store still has the next group, which becomes durable afterwards.
  const lost = codeOf(one.send({ type: 'go', token: 'b' }));
  await microtasks();
  rt.runtime.crash();
  expect(await lost).toBe('NOT_HOSTED');
  await rt.start();
  const again = rt.actor('counter/1');
  await during(rt, again.send({ type: 'go', token: 'c' }));
  expect(again.getSnapshot().context.tokens).toEqual(['a', 'b', 'c']);
});

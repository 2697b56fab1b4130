/**
 * A node with more to do than it can: deadlines that are due go first, messages next, new work last,
 * and nobody waits for ever. Counted in turns: how long one takes is nobody's business here.
 */

import { expect, test } from 'vitest';
import { sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import type { Group, Settle } from '../../runtime/ports/store.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { StoreInFront } from '../store-in-front.ts';
import { codeOf } from './outcomes.ts';

/** Turns of one group; the next one is filled while it is written, and that takes a millisecond. */
const GROUP_TURNS = 10;
const COMMIT_MS = 1;
const ACTORS = 1_000;

class SlowStore extends StoreInFront {
  isSlow = false;
  readonly #clock: SimulatedClock;

  constructor(clock: SimulatedClock) {
    super(memoryStore());
    this.#clock = clock;
  }

  override commit(group: Group, settle: Settle): void {
    if (!this.isSlow) return this.behind.commit(group, settle);
    this.#clock.schedule(this.#clock.now() + COMMIT_MS, () => this.behind.commit(group, settle));
  }
}

type WorkEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'cancel' }
  | { readonly type: 'pass'; readonly turn: string };

/** Says what each turn was; its deadline comes after 20 ms. */
const workMachine = setup({
  types: { events: {} as WorkEvent },
  actions: {
    say: (_, _params: { what: string }) => {},
    passOn: sendTo(
      ({ event }) => to(event.type === 'pass' ? event.turn : ''),
      ({ self, event }) => ({ type: 'pass', turn: event.type === 'pass' ? self.id : '' }) as const,
    ),
  },
  delays: { limit: 20 },
}).createMachine({
  initial: 'waiting',
  on: {
    begin: { actions: { type: 'say', params: { what: 'begin' } } },
    cancel: { actions: { type: 'say', params: { what: 'cancel' } } },
    pass: { actions: ['passOn', { type: 'say', params: { what: 'pass' } }] },
  },
  states: {
    waiting: { after: { limit: 'late' } },
    late: { entry: { type: 'say', params: { what: 'deadline' } } },
  },
});

async function busyNode(newWork: readonly string[]) {
  const clock = new SimulatedClock();
  const store = new SlowStore(clock);
  const said: string[] = [];
  const say = ({ params }: { params: { what: string } }) => said.push(params.what);
  const rt = await testRuntime({
    kinds: { work: workMachine, timed: workMachine },
    options: { work: { perform: { say }, newWork }, timed: { perform: { say }, newWork } },
    clock,
    store,
    limits: { groupTurnsMax: GROUP_TURNS },
  });
  const within = async <T>(calls: ReadonlyArray<Promise<T>>): Promise<readonly T[]> => {
    const all = Promise.all(calls);
    await rt.advance(500);
    return all;
  };
  const names = Array.from({ length: ACTORS }, (_, index) => `work/${index}` as const);
  await within(names.map((name) => rt.spawn(name)));
  store.isSlow = true;
  said.length = 0;
  return { rt, said, within, names };
}

/** Turns of one sort before the last of another. */
function ahead(said: readonly string[], of: string, what: string): number {
  return said.slice(0, said.lastIndexOf(of)).filter((each) => each === what).length;
}

test('deadlines that come due while a queue is worked off fire before it is', async () => {
  const { rt, said, within, names } = await busyNode(['begin']);
  const due = Array.from({ length: 20 }, (_, index) => `timed/${index}` as const);
  const born = due.map((name) => rt.spawn(name));
  await rt.advance(15);
  const begun = names.map((name) => rt.actor(name).send({ type: 'begin' }));
  await within([...born, ...begun].map(async (call) => void (await call)));
  expect(said.filter((each) => each === 'deadline')).toHaveLength(20);
  expect(said.filter((each) => each === 'begin')).toHaveLength(ACTORS);
  // What was taken until then, two groups under way, and the share of those that wait.
  expect(ahead(said, 'deadline', 'begin')).toBeLessThan(200);
  expect(rt.runtime.metrics().latenessMs).toBeLessThan(10);
});

test('a message is taken before new work that came long before it', async () => {
  const { rt, said, within, names } = await busyNode(['begin']);
  const begun = names.map((name) => rt.actor(name).send({ type: 'begin' }));
  await rt.advance(3);
  const cancelled = (['work/997', 'work/998'] as const).map((name) =>
    rt.actor(name).send({ type: 'cancel' }, { id: `cancel:${name.slice(5)}` }),
  );
  await within([...begun, ...cancelled]);
  expect(said).toHaveLength(ACTORS + 2);
  expect(ahead(said, 'cancel', 'begin')).toBeLessThan(100);
});

test('where a kind says nothing of new work all messages are alike', async () => {
  const { rt, said, within, names } = await busyNode([]);
  const begun = names.map((name) => rt.actor(name).send({ type: 'begin' }));
  await rt.advance(3);
  const cancelled = rt.actor('work/998').send({ type: 'cancel' }, { id: 'cancel' });
  await within([...begun, cancelled]);
  expect(ahead(said, 'cancel', 'begin')).toBeGreaterThan(900);
});

test('new work is not kept back for ever by messages that never end', async () => {
  const { rt, said, names } = await busyNode(['begin']);
  const passed = names.slice(0, 50).map((name, index) => {
    const turn = `work/${names.length - 1 - index}`;
    return rt.actor(name).send({ type: 'pass', turn });
  });
  await rt.advance(20);
  await Promise.all(passed);
  const begun = names.slice(100, 200).map((name) => rt.actor(name).send({ type: 'begin' }));
  await rt.advance(500);
  await Promise.all(begun);
  // They still go on, and had their turns meanwhile.
  expect(ahead(said, 'begin', 'pass')).toBeGreaterThan(1_000);
});

test('a kind names as new work only what it knows', async () => {
  const opened = testRuntime({
    kinds: { work: workMachine },
    options: { work: { newWork: ['begn'] } },
  });
  expect(await codeOf(opened)).toBe('EVENT_UNDECLARED');
});

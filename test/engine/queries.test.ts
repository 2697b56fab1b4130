/** Queries by what actors wait for, and in the order of their deadlines, with both stores. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { fromPromise, sendTo, setup } from 'xstate';
import type { ActorQuery } from '../../runtime/api/query.ts';
import { to } from '../../runtime/machine.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { memoryStore } from '../../stores/memory.ts';
import { codeOfThrown } from './outcomes.ts';

const taskMachine = setup({
  types: {
    context: {} as { ms: number },
    input: {} as { ms?: number },
    events: {} as
      | { type: 'sleep' }
      | { type: 'fetch' }
      | { type: 'mail' }
      | { type: 'tell' }
      | { type: 'end' }
      | { type: 'told' },
  },
  actors: { page: fromPromise(() => new Promise(() => {})) },
  actions: { post: () => {} },
  delays: { nap: ({ context }) => context.ms },
}).createMachine({
  context: ({ input }) => ({ ms: input.ms ?? 1_000 }),
  initial: 'idle',
  on: {
    sleep: '.sleeping',
    fetch: '.fetching',
    mail: { actions: 'post' },
    tell: { actions: sendTo(to('task/x@nowhere'), { type: 'told' }) },
    end: '.ended',
    told: {},
  },
  states: {
    idle: {},
    sleeping: { tags: ['asleep'], after: { nap: 'idle' } },
    fetching: { invoke: { src: 'page' } },
    ended: { type: 'final' },
  },
});

const ends: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function diskStore() {
  const directory = mkdtempSync(join(tmpdir(), 'queries-'));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  return lmdbStore(directory);
}

describe.each([
  ['memory', memoryStore],
  ['lmdb', diskStore],
] as const)('a query in %s', (_, openStore) => {
  async function open(limits: object = {}) {
    const forever = { durable: true as const, run: () => new Promise<void>(() => {}) };
    const rt = await testRuntime({
      kinds: { task: taskMachine, other: taskMachine },
      options: { task: { perform: { post: forever } } },
      store: openStore(),
      limits,
    });
    ends.push(() => rt.stop());
    return rt;
  }

  const keysOf = (actors: readonly { address: string }[]) =>
    actors.map(({ address }) => address.replace(/^task\/|@test$/g, ''));

  /** All pages of a query, one after the other. */
  function pagesOf(rt: Awaited<ReturnType<typeof open>>, query: ActorQuery) {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = rt.runtime.query({ ...query, ...(cursor !== undefined && { cursor }) });
      pages.push(keysOf(page.actors));
      cursor = page.cursor;
      expect(pages.length).toBeLessThan(1_000);
    } while (cursor !== undefined);
    return pages;
  }

  test('narrows down by what actors wait for', async () => {
    // Two actors in memory at most, but for those that have something under way.
    const rt = await open({ liveActorsMax: 2 });
    for (const event of ['idle', 'sleep', 'fetch', 'mail', 'tell', 'end'] as const) {
      for (const number of [1, 2]) {
        const actor = await rt.spawn(`task/${event}${number}`, { input: {} });
        if (event !== 'idle') await actor.send({ type: event });
      }
    }
    const both = (name: string) => [`${name}1`, `${name}2`];
    const expected: ReadonlyArray<readonly [ActorQuery['waitingFor'], string[]]> = [
      ['timer', both('sleep')],
      ['promise', both('fetch')],
      ['effect', both('mail')],
      ['acknowledgement', both('tell')],
      ['message', both('idle')],
    ];
    for (const [waitingFor, keys] of expected) {
      if (waitingFor === undefined) continue;
      expect([waitingFor, pagesOf(rt, { waitingFor }).flat()]).toEqual([waitingFor, keys]);
      expect(pagesOf(rt, { waitingFor, limit: 1 }).flat()).toEqual(keys);
      expect(pagesOf(rt, { waitingFor, kind: 'other' }).flat()).toEqual([]);
    }
    expect(pagesOf(rt, { waitingFor: 'promise', state: 'idle' }).flat()).toEqual([]);
    expect(pagesOf(rt, { waitingFor: 'effect', state: 'idle' }).flat()).toEqual(both('mail'));
    // One that goes on waits no longer for it, and one that comes back after a crash does again.
    await rt.actor('task/fetch1').send({ type: 'sleep' });
    await rt.crash();
    expect(pagesOf(rt, { waitingFor: 'promise' }).flat()).toEqual(['fetch2']);
    expect(pagesOf(rt, { waitingFor: 'timer' }).flat()).toEqual(['fetch1', ...both('sleep')]);
    expect(pagesOf(rt, { waitingFor: 'effect' }).flat()).toEqual(both('mail'));
  });

  test('comes in the order of the next deadline, page by page', async () => {
    const rt = await open({ liveActorsMax: 4 });
    const moments = [500, 20, 90_000, 500, 7, 3_000, 500, 60_000, 41, 1_000];
    for (const [index, ms] of moments.entries()) {
      const actor = await rt.spawn(`task/${index}`, { input: { ms } });
      await actor.send({ type: 'sleep' });
    }
    await rt.spawn('task/idle', { input: {} });
    await (await rt.spawn('task/gone', { input: {} })).send({ type: 'end' });
    const far = await rt.spawn('other/far', { input: { ms: 10 } });
    await far.send({ type: 'sleep' });
    const inOrder = ['4', '1', '8', '0', '3', '6', '9', '5', '7', '2'];
    for (const limit of [1, 2, 3, 10, 100])
      expect(pagesOf(rt, { sort: 'deadline', kind: 'task', limit }).flat()).toEqual(inOrder);
    const early = { sort: 'deadline', deadlineBefore: rt.now() + 501, kind: 'task' } as const;
    expect(pagesOf(rt, early).flat()).toEqual(inOrder.slice(0, 6));
    expect(pagesOf(rt, { sort: 'deadline', tag: 'asleep', limit: 4 }).flat()).toEqual([
      '4',
      'other/far',
      ...inOrder.slice(1),
    ]);
    for (const query of [{ lookedAtMax: 2 }, { limit: 1 }])
      expect(pagesOf(rt, { sort: 'deadline', state: 'idle', ...query }).flat()).toEqual([]);
    expect(rt.runtime.query({ sort: 'deadline', limit: 1 }).actors[0]?.dueAt).toBe(rt.now() + 7);
    // Those that have fired are not waited for any more, and one that begins again has its new place.
    await rt.advance(100);
    await rt.actor('task/4').send({ type: 'sleep' });
    expect(pagesOf(rt, { sort: 'deadline', kind: 'task' }).flat()).toEqual([
      '4',
      ...inOrder.slice(3),
    ]);
    await rt.crash();
    expect(pagesOf(rt, { sort: 'deadline', kind: 'task', limit: 3 }).flat()).toEqual([
      '4',
      ...inOrder.slice(3),
    ]);
  });

  test('is refused where it makes no sense', async () => {
    const rt = await open();
    for (const query of [
      { sort: 'size' },
      { waitingFor: 'godot' },
      { queue: 'q', sort: 'deadline' },
      { queue: 'q', waitingFor: 'timer' },
      { sort: 'deadline', cursor: 'task/1@test' },
    ])
      expect(codeOfThrown(() => rt.runtime.query(query as never))).toBe('OPTION_INVALID');
  });
});

test('a node that stands by cannot say what only its host has in memory', async () => {
  const shared = { store: memoryStore(), lease: localLease(), clock: new SimulatedClock() };
  const kinds = { task: taskMachine };
  await testRuntime({ ...shared, kinds, node: 'first', place: 'p' });
  const second = await testRuntime({ ...shared, kinds, node: 'second', place: 'p' });
  for (const query of [{ sort: 'deadline' }, { waitingFor: 'promise' }] as const)
    expect(codeOfThrown(() => second.runtime.query(query))).toBe('NOT_HOSTED');
  expect(second.runtime.query({ waitingFor: 'timer' }).actors).toEqual([]);
});

/** Views from outside: history, queries, explanations, the inspection stream, counts. */

import { describe, expect, test } from 'vitest';
import { assign, emit, sendTo, setup } from 'xstate';
import type { InspectionRecord } from '../../runtime/base/inspection.ts';
import { hint, reply, to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, codeOfThrown, during } from './outcomes.ts';

const MINUTE_MS = 60_000;

const jobMachine = setup({
  types: {
    context: {} as { note: string },
    input: {} as { note?: string },
    events: {} as
      | { type: 'start'; peer?: string }
      | { type: 'fail' }
      | { type: 'end' }
      | { type: 'ask'; replyTo?: string }
      | { type: 'heard' },
    emitted: {} as { type: 'started' },
  },
  actions: { print: (_, _params: object) => {}, file: (_, _params: object) => {} },
  delays: { patience: 5 * MINUTE_MS, limit: 90 * MINUTE_MS },
}).createMachine({
  id: 'job',
  context: ({ input }) => ({ note: input.note ?? '' }),
  initial: 'queued',
  on: {
    ask: { actions: reply('yes' as never) },
    heard: {},
    end: '.ended',
    fail: {
      actions: assign({
        note: () => {
          throw new Error('it broke');
        },
      }),
    },
  },
  states: {
    queued: {
      tags: ['waiting'],
      after: { patience: 'stuck' },
      on: {
        start: {
          target: 'running',
          actions: [
            { type: 'print', params: {} },
            { type: 'file', params: {} },
            emit({ type: 'started' }),
            sendTo(({ event }) => to(event.peer ?? ''), { type: 'heard' }),
            sendTo(({ event }) => hint(event.peer ?? ''), { type: 'heard' }),
          ],
        },
      },
    },
    running: {
      tags: ['busy', 'hot'],
      initial: 'first',
      after: { limit: '#job.stuck' },
      states: { first: {} },
    },
    stuck: { tags: ['waiting'] },
    ended: { type: 'final' },
  },
});

function open(options: Parameters<typeof testRuntime>[0] | object = {}) {
  return testRuntime({
    kinds: { job: jobMachine },
    options: {
      job: { perform: { print: () => {}, file: { durable: true, run: () => {} } } },
    },
    ...options,
  });
}

describe('history', () => {
  test('tells turn by turn what came, from whom, and the outcome of it', async () => {
    const rt = await open();
    const startAt = rt.now();
    const one = await rt.spawn('job/1', { input: {} });
    const two = await rt.spawn('job/2', { input: {} });
    await rt.advance(5 * MINUTE_MS - 1);
    await one.send({ type: 'start', peer: 'job/2' });
    await codeOf(one.send({ type: 'fail' }));
    await rt.advance(7);
    await one.send({ type: 'end' }, { id: 'last' });
    const at = startAt + 5 * MINUTE_MS - 1;
    expect(rt.runtime.history('job/1')).toEqual([
      { turn: 1, at: startAt, event: 'escapement.spawn', state: 'queued' },
      {
        turn: 2,
        at,
        event: 'start',
        state: '{"running":"first"}',
        did: [
          'send heard to job/2@test',
          'do file',
          'do print',
          'emit started',
          'hint heard to job/2@test',
        ],
      },
      { turn: 3, at, event: 'fail', error: expect.objectContaining({ code: 'TURN_FAILED' }) },
      { turn: 4, at: at + 7, event: 'end', from: 'request:last', counter: 1, state: 'ended' },
    ]);
    expect(rt.runtime.history('job/2')).toEqual([
      expect.objectContaining({ turn: 1 }),
      { turn: 2, at, event: 'heard', from: 'job/1@test', counter: at + 1 },
      // A hint has no number: nobody would send it again.
      { turn: 3, at, event: 'heard', from: 'job/1@test', counter: 0 },
      {
        turn: 4,
        at: at + 1,
        event: 'xstate.after.patience.job.queued',
        dueAt: startAt + 5 * MINUTE_MS,
        state: 'stuck',
      },
    ]);
    expect(two.getSnapshot().value).toBe('stuck');
    expect(rt.runtime.history('job/1', { limit: 1 })).toHaveLength(1);
    expect(rt.runtime.history('job/nobody')).toEqual([]);
  });

  test('keeps the last rows only', async () => {
    const rt = await open({ store: memoryStore({ historyMax: 5 }) });
    const one = await rt.spawn('job/1', { input: {} });
    for (let index = 0; index < 20; index += 1) await one.send({ type: 'heard' });
    expect(rt.runtime.history('job/1').map(({ turn }) => turn)).toEqual([17, 18, 19, 20, 21]);
    await rt.crash();
    expect(rt.runtime.history('job/1', { limit: 2 }).map(({ turn }) => turn)).toEqual([20, 21]);
  });
});

test('query finds actors by what the index knows, a page at a time', async () => {
  const rt = await open();
  const startAt = rt.now();
  for (let index = 0; index < 10; index += 1) {
    const job = await rt.spawn(`job/${index}`, { input: {} });
    if (index % 2 === 0) await job.send({ type: 'start' });
    if (index === 9) await job.send({ type: 'end' });
    await rt.advance(1_000);
  }
  const found = (query: object) =>
    rt.runtime.query(query).actors.map(({ address }) => Number(address.slice(4, 5)));
  expect(found({ tag: 'busy' })).toEqual([0, 2, 4, 6, 8]);
  expect(found({ tag: 'waiting', kind: 'job' })).toEqual([1, 3, 5, 7]);
  expect(found({ state: '{"running":"first"}', status: 'active' })).toEqual([0, 2, 4, 6, 8]);
  expect(found({ status: 'done' })).toEqual([9]);
  expect(found({ kind: 'nobody' })).toEqual([]);
  expect(found({ deadlineBefore: startAt + 5 * MINUTE_MS + 5_000 })).toEqual([1, 3]);
  expect(found({ deadlineBefore: startAt + 91 * MINUTE_MS, tag: 'hot' })).toEqual([0, 2, 4, 6, 8]);
  expect(found({ stuckFor: 6_000 })).toEqual([0, 1, 2, 3]);
  expect(found({ stuckFor: 0 })).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(found({ stuckFor: 0, status: 'done' })).toEqual([9]);
  const pages: number[][] = [];
  let cursor: string | undefined;
  do {
    const page = rt.runtime.query({ limit: 4, ...(cursor !== undefined && { cursor }) });
    pages.push(page.actors.map(({ address }) => Number(address.slice(4, 5))));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(pages).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ]);
  await rt.advance(6 * MINUTE_MS);
  expect(found({ state: 'stuck' })).toEqual([1, 3, 5, 7]);
  expect(codeOfThrown(() => rt.runtime.query({ limit: 0 }))).toBe('OPTION_INVALID');
});

describe('explain', () => {
  test('says where an actor is, what it waits for, and what happened', async () => {
    const rt = await open();
    const one = await rt.spawn('job/1', { input: { note: 'n'.repeat(500) } });
    await rt.advance(MINUTE_MS);
    let text = await rt.explain('job/1');
    expect(text).toContain('job/1@test is "queued" after 1 turns');
    expect(text).toContain('"patience" of job.queued is due in 4m (00:05:00.000)');
    expect(text).toMatch(/context {3}\{"note":"n+…/);
    await one.send({ type: 'start', peer: 'job/1@elsewhere' });
    await codeOf(one.send({ type: 'fail' }));
    text = await rt.explain('job/1');
    expect(text).toContain('is due in 1h 30m (01:31:00.000)');
    expect(text).toContain('waits for job/1@elsewhere to acknowledge');
    expect(text).toContain('✗ TURN_FAILED');
    expect(text).toContain('start → {"running":"first"}; send heard to job/1@elsewhere');
    await rt.advance(90 * MINUTE_MS);
    text = await rt.explain('job/1');
    expect(text).toContain(
      'deadline "limit" of job.running (was due 01:31:00.000, 0 ms late) → stuck',
    );
    expect(text).toContain('deadline  none: only an event moves it on');
    await one.send({ type: 'end' });
    expect(await rt.explain('job/1')).toContain('has ended in "ended"');
    expect(await rt.explain('job/2')).toBe('job/2@test: there is no such actor.');
    expect(await codeOf(rt.explain('nobody/2'))).toBe('taken');
    expect(text.split('\n').length).toBeLessThan(40);
  });

  test('of a deadline that is late says by how much', async () => {
    const rt = await open();
    await rt.spawn('job/1', { input: {} });
    rt.runtime.crash();
    rt.clock.advanceBy(5 * MINUTE_MS + 1_234);
    await rt.start();
    expect(await rt.explain('job/1')).toContain('1234 ms late) → stuck');
  });
});

describe('the inspection stream', () => {
  test('tells everything once it is durable, in order, with its cause', async () => {
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const rt = await open({ clock, store });
    const seen: InspectionRecord[] = [];
    const end = rt.runtime.inspect((record) => seen.push(record));
    const one = await rt.spawn('job/1', { input: {} });
    await rt.spawn('job/2', { input: {} });
    await during(rt, one.send({ type: 'start', peer: 'job/2' }));
    await during(rt, codeOf(one.send({ type: 'fail' })));
    await rt.advance(1_000);
    const short = seen.map((record) => {
      if (record.type === 'turn') return `turn ${record.address} ${record.event.type}`;
      if (record.type === 'actor') return `actor ${record.address} ${record.change}`;
      if (record.type === 'messageSent') return `sent ${record.to}`;
      if (record.type === 'timers') return `timers ${record.address} ${record.timers.length}`;
      return record.type;
    });
    expect(short.filter((line) => line !== 'commit')).toEqual([
      'actor job/1@test born',
      'turn job/1@test escapement.spawn',
      'timers job/1@test 1',
      'actor job/2@test born',
      'turn job/2@test escapement.spawn',
      'timers job/2@test 1',
      'turn job/1@test start',
      'timers job/1@test 1',
      'sent job/2@test',
      'turn job/2@test heard',
      'timers job/2@test 1',
      'turn job/2@test heard',
      'timers job/2@test 1',
      'turn job/1@test fail',
      'timers job/1@test 1',
      'undelivered',
    ]);
    const commits = seen.filter((record) => record.type === 'commit');
    expect(commits.reduce((sum, { turns }) => sum + turns, 0)).toBe(6);
    expect(commits.every(({ records }) => records > 0)).toBe(true);
    // The turn of the receiver names the message, and so the sender's turn.
    const heard = seen.filter(
      (record) => record.type === 'turn' && record.event.type === 'heard' && record.counter !== 0,
    );
    const counter = seen.find((record) => record.type === 'messageSent')?.counter;
    expect(heard).toMatchObject([{ from: 'job/1@test', counter, state: 'queued' }]);
    expect(seen.every(({ at, place }) => at <= rt.now() && place === 'test')).toBe(true);
    end();
    const before = seen.length;
    await during(rt, one.send({ type: 'heard' }));
    expect(seen).toHaveLength(before);
  });

  test('tells of refused commits, ends, new lives, lost leases and undelivered messages', async () => {
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const rt = await open({ clock, store });
    const one = await rt.spawn('job/1', { input: {} });
    const types: string[] = [];
    rt.runtime.inspect((record) => {
      if (record.type === 'actor') types.push(record.change);
      else if (record.type === 'lease') types.push(`lease ${record.change}`);
      else if (record.type === 'undelivered') types.push(`undelivered ${record.error.code}`);
      else if (record.type === 'commitRefused') types.push(`refused ${record.addresses}`);
    });
    store.refuse = () => {
      store.refuse = () => undefined;
      return diskFull();
    };
    await during(rt, codeOf(one.send({ type: 'heard' })));
    await during(rt, one.send({ type: 'start', peer: 'job/nobody' }));
    await rt.advance('1m');
    await during(rt, one.send({ type: 'end' }));
    await rt.spawn('job/1', { input: {} });
    await new Promise<void>((resolve) => {
      store.commit({ shard: 'test', fence: 9, writes: [] }, () => resolve());
      void rt.settle();
    });
    await during(rt, codeOf(one.send({ type: 'heard' })));
    const undelivered = 'undelivered ACTOR_UNKNOWN';
    expect(types).toEqual(['refused job/1@test', undelivered, 'done', 'born', 'lease lost']);
  });
});

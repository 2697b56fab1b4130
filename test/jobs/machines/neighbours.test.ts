/**
 * Size of what one event writes into the record of an actor with many neighbours: as much with thousands of
 * attempts as with ten.
 */

import { describe, expect, test } from 'vitest';
import { jobMachine } from '../../../machines/jobs/job.ts';
import { workerMachine } from '../../../machines/jobs/worker.ts';
import { workerHealthMachine } from '../../../machines/jobs/worker-health.ts';
import type { RowChanges } from '../../../runtime/ports/store.ts';
import { testRuntime } from '../../../simulator/testing.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { CountingStore } from '../../engine/stock.ts';
import { changed, inputOf } from './job-scenes.ts';
import { rules, told } from './worker-health-scenes.ts';
import { dispatch, input, welcome } from './worker-scenes.ts';

const FEW = 10;
/** The numbers of rows and of messages may have this many digits more, in each place where they stand. */
const DIGITS = 12;

type Event = { readonly type: string };

interface Scene {
  readonly kind: 'worker' | 'worker-health';
  readonly input: object;
  /** What happens before there are any. */
  readonly before: Event;
  readonly table: string;
  readonly row: object;
  readonly events: readonly Event[];
  readonly many: number;
}

const attempt = { jobId: 'j1', attemptId: 'w1#1' };
const operation = { jobId: 'j1', attemptId: 'w1#1', registration: 1 };

const SCENES: readonly Scene[] = [
  {
    kind: 'worker-health',
    many: 10_000,
    input: { workerId: 'W', datacenter: 'test', rules },
    before: told(),
    table: 'operations',
    row: { heartbeatSeq: 1, progress: 0.5 },
    events: [
      { type: 'attempt.placed', ...operation } as Event,
      { type: 'attempt.running', ...operation, heartbeatSeq: 1 } as Event,
      { type: 'attempt.ended', ...operation, heard: true } as Event,
    ],
  },
  {
    kind: 'worker',
    // It takes 4,096 at a time.
    many: 4_000,
    input: { ...input, datacenter: 'test', coresTotal: 1_000_000 },
    before: welcome(),
    table: 'attempts',
    row: { cores: 1, term: 3, isFinished: false },
    events: [
      dispatch({ cores: 1, datacenter: 'test' }) as Event,
      { type: 'attempt.finished', operationId: `${attempt.jobId}/${attempt.attemptId}` } as Event,
      { type: 'attempt.ended', operationId: `${attempt.jobId}/${attempt.attemptId}` } as Event,
    ],
  },
];

/** Characters and rows that each of the events writes, where this many are there already. */
async function written(scene: Scene, count: number) {
  const store = new CountingStore(memoryStore());
  const machine = { worker: workerMachine, 'worker-health': workerHealthMachine }[scene.kind];
  const rt = await testRuntime({ kinds: { [scene.kind]: machine as never }, store });
  const address = `${scene.kind}/1` as const;
  const actor = await rt.spawn(address, { input: scene.input } as never);
  await actor.send(scene.before as never);
  const whole = `${address}@test`;
  const rows = Array.from({ length: count }, (_, index) => [`j9/w${index}#1`, scene.row] as const);
  const changes: RowChanges = new Map([
    [scene.table, new Map(rows.map(([key, row]) => [key, JSON.stringify(row)]))],
  ]);
  const empty = `"${scene.table}":{"escapement$$table":0}`;
  const before = store.load(whole) as string;
  expect(before).toContain(empty);
  const record = before.replace(empty, () => empty.replace('0', String(count)));
  const entry = store.entry(whole) ?? null;
  rt.runtime.crash();
  const writes = [{ address: whole, record, entry, history: [], rows: changes }];
  store.commit({ shard: 'test', fence: store.fence('test'), writes }, () => {});
  await rt.start();
  const figures: Array<readonly [characters: number, rows: number]> = [];
  for (const event of scene.events) {
    await rt.settle();
    store.characters = 0;
    store.rowsWritten = 0;
    await rt.actor(address).send(event as never);
    figures.push([store.characters, store.rowsWritten]);
  }
  return figures;
}

describe('what an event writes', () => {
  test.each(SCENES)('into a $kind does not depend on its neighbours', async (scene) => {
    const [few, many] = [await written(scene, FEW), await written(scene, scene.many)];
    for (const [index, [characters, rows]] of many.entries()) {
      const [fewCharacters, fewRows] = few[index] as readonly [number, number];
      expect(rows).toBe(fewRows);
      expect(rows).toBeGreaterThan(0);
      expect(characters - fewCharacters).toBeLessThanOrEqual(DIGITS);
    }
  });
});

describe('what a change of one workflow writes', () => {
  /** Characters and rows of each change, in a job of this many. */
  async function changes(count: number) {
    const store = new CountingStore(memoryStore());
    const rt = await testRuntime({ kinds: { job: jobMachine }, store });
    const ids = Array.from({ length: count }, (_, index) => `w${index}`);
    const dependsOn = Object.fromEntries(ids.slice(20).map((_, index) => [index + 20, [index]]));
    const job = await rt.spawn('job/j1', { input: inputOf({ ids, dependsOn }) as never });
    await job.send({ type: 'job.assembled' } as never);
    await rt.settle();
    const figures: Array<readonly [characters: number, rows: number]> = [];
    for (const state of ['DISPATCHED', 'RUNNING', 'COMPLETED']) {
      store.characters = 0;
      store.rowsWritten = 0;
      await job.send(changed('w3', state) as never);
      figures.push([store.characters, store.rowsWritten]);
    }
    return figures;
  }

  test('does not depend on how many its job has', async () => {
    const [few, many] = [await changes(100), await changes(10_000)];
    for (const [index, [characters, rows]] of many.entries()) {
      const [fewCharacters, fewRows] = few[index] as readonly [number, number];
      expect(rows).toBe(fewRows);
      expect(rows).toBeGreaterThan(0);
      expect(characters - fewCharacters).toBeLessThanOrEqual(DIGITS);
    }
  });
});

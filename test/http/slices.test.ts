/** Slices of long work: others have their turn, counted by the clock that lets them. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Manager, startManager } from '../../programs/jobs/index.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { close, type Endpoint, listen } from './served.ts';

/** The system's, and counts how often work was put off. */
class TurnClock implements Clock {
  turns = 0;
  readonly #clock = systemClock();

  now(): number {
    return this.#clock.now();
  }

  schedule(atMs: number, task: () => void): () => void {
    return this.#clock.schedule(atMs, task);
  }

  defer(task: () => void): void {
    this.turns += 1;
    this.#clock.defer(task);
  }
}

const WORKFLOWS = 2_000;
const JOBS = 120;
const ofApi = new TurnClock();
const ofService = new TurnClock();
const folder = mkdtempSync(join(tmpdir(), 'escapement-slices-'));
let manager: Manager;
let at: Endpoint;

beforeAll(async () => {
  manager = await startManager({ datacenter: 'A', store: lmdbStore(folder), clock: ofService });
  at = await listen(manager, { clock: ofApi });
});
afterAll(async () => {
  await close(at.server, at.handler);
  await manager.stop();
  rmSync(folder, { recursive: true, force: true });
});

const submit = (jobId: string, count: number) =>
  at.body('/v1/jobs', {
    json: {
      jobId,
      timeoutMs: 3_600_000,
      workflows: Array.from({ length: count }, (_, n) => ({
        id: `w${n}`,
        handler: 'none',
        payload: 'x'.repeat(512),
      })),
    },
  });

test('a large body is read in slices, a page of actors and one of jobs are', async () => {
  expect(await submit('large', WORKFLOWS)).toMatchObject({ status: 201 });
  // More than a mebibyte, a part of 64 KiB or of one read more at a time.
  expect(ofApi.turns).toBeGreaterThanOrEqual(8);
  const many = await Promise.all(Array.from({ length: JOBS }, (_, n) => submit(`j${n}`, 1)));
  expect(new Set(many.map(({ status }) => status))).toEqual(new Set([201]));
  const { body: timers } = await at.body('/v1/timers?limit=1000');
  expect(timers.timers.length).toBeGreaterThan(JOBS);
  ofApi.turns = 0;
  const { body: none } = await at.body('/v1/actors?stuckFor=1d&limit=500');
  expect(none).toEqual({ actors: [], cursor: null });
  // Nothing of what it looks at is that old, and it looks at 250 at a time.
  expect(ofApi.turns).toBeGreaterThanOrEqual(Math.floor(WORKFLOWS / 250));
  const before = ofService.turns;
  const { body: few } = await at.body('/v1/jobs?limit=1');
  const ofOne = ofService.turns - before;
  const { body: jobs } = await at.body('/v1/jobs?limit=500');
  const ofAll = ofService.turns - before - ofOne;
  expect([few.jobs.length, jobs.jobs.length]).toEqual([1, JOBS + 1]);
  expect(ofAll - ofOne).toBeGreaterThanOrEqual(1);
});

/**
 * Jobs of many workflows: how long a cancel of 10,000 at work takes, and what a workflow of a large job
 * writes against one of a small job.
 *
 * The cancel is timed from the client's question to the committed end, when every handler has stopped.
 * What is written are the characters of records and history handed to the store, counted; a job of 2,000
 * workflows against one of 20, handlers that return at once.
 */

import { memoryStore } from '../index.ts';
import { countedStore } from './counted-store.ts';
import { type JobsSystem, startSystem, until, within } from './jobs-system.ts';
import { median, rangeOf, rounded } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const WORKFLOWS = 10_000;
const QUICK_WORKFLOWS = 500;
const PER_WORKER = 1_000;
const [LARGE, SMALL] = [2_000, 20];
const QUICK_LARGE = 200;
const DAY_MS = 86_400_000;
const LIMIT_MS = 600_000;

export const jobsCancel: Field = {
  name: 'cancelMs',
  about: 'ms from a cancel to the committed end, of a job of 10,000 workflows at work',
  better: 'lower',
  goal: 2_000,
  stretch: 1_000,
  measure: measureCancel,
};

export const jobsWritten: Field = {
  name: 'writtenPerWorkflow',
  about: 'characters written for a workflow of a job of 2,000 ÷ of a job of 20, counted',
  better: 'lower',
  goal: 1.5,
  stretch: 1.1,
  measure: measureWritten,
};

async function measureCancel({
  rounds,
  sizes,
  isQuick,
  progress,
}: MeasureOptions): Promise<Measured> {
  const count = sizes.workflows ?? (isQuick ? QUICK_WORKFLOWS : WORKFLOWS);
  let running = 0;
  const system = await startSystem({
    workers: Math.ceil(count / PER_WORKER),
    cores: PER_WORKER,
    handlers: {
      held: ({ signal }) => {
        running += 1;
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      },
    },
  });
  const took: number[] = [];
  const turns: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    running = 0;
    const jobId = `j${round}`;
    await submit(system, jobId, count, 'held');
    await until('all run', LIMIT_MS, () => running >= count && system.isAtRest);
    const ended = system.end(jobId);
    const turnsBefore = system.manager.runtime.metrics().turns;
    const startedAt = performance.now();
    await system.client.cancel(jobId);
    const { status } = await within('the end of the job', LIMIT_MS, ended);
    if (status !== 'cancelled') throw new Error(`Job ${jobId} is ${status}.`);
    took.push(performance.now() - startedAt);
    await system.rest();
    turns.push((system.manager.runtime.metrics().turns - turnsBefore) / count);
    progress(`  cancelled after ${Math.round(took.at(-1) as number)} ms`);
  }
  await system.check({ cancelled: rounds + 1 }, { limitMs: LIMIT_MS, each: count });
  await system.stop();
  // The first one was the warm-up.
  const counted = took.slice(1);
  return {
    value: rounded(median(counted)),
    range: rangeOf(counted),
    rounds: counted.length,
    details: { workflows: count, turnsPerWorkflow: rounded(median(turns.slice(1))) },
    raw: { cancelMs: counted },
  };
}

async function measureWritten({ sizes, isQuick }: MeasureOptions): Promise<Measured> {
  const large = sizes.workflows ?? (isQuick ? QUICK_LARGE : LARGE);
  const store = countedStore(memoryStore());
  const system = await startSystem({
    workers: 4,
    cores: PER_WORKER,
    handlers: { atOnce: async () => 'done' },
    store,
  });
  const writtenFor = async (jobId: string, workflows: number): Promise<number> => {
    await system.rest();
    const before = store.written;
    const ended = system.end(jobId);
    await submit(system, jobId, workflows, 'atOnce');
    const { status } = await within('the end of the job', LIMIT_MS, ended);
    if (status !== 'completed') throw new Error(`Job ${jobId} is ${status}.`);
    await system.rest();
    return (store.written - before) / workflows;
  };
  await writtenFor('warm', SMALL);
  const small = await writtenFor('small', SMALL);
  const ofLarge = await writtenFor('large', large);
  await system.stop();
  const value = rounded(ofLarge / small);
  return {
    value,
    range: [value, value],
    rounds: 1,
    details: {
      workflows: [large, SMALL],
      charactersPerWorkflow: { large: Math.round(ofLarge), small: Math.round(small) },
      note: 'counted, one pass; heartbeats in between are in both',
    },
    raw: { charactersPerWorkflow: [ofLarge, small] },
  };
}

async function submit(
  system: JobsSystem,
  jobId: string,
  count: number,
  handler: string,
): Promise<void> {
  const workflows = Array.from({ length: count }, (_, index) => ({ id: `w${index}`, handler }));
  const terms = { timeoutMs: DAY_MS, stuckThresholdMs: DAY_MS };
  await system.submit({ jobId, ...terms, workflows });
}

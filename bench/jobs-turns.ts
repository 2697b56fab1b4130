/**
 * Turns that a job of one workflow takes from submission to end, at the datacenter and at the worker.
 *
 * Jobs run one after the other, so that a turn belongs to one of them; what comes whether jobs run or not
 * (heartbeats and their answers) is left out. The counts are by kind and event, in the details.
 */

import { type JobsSystem, startSystem } from './jobs-system.ts';
import { median, rangeOf, rounded } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const JOBS = 200;
const QUICK_JOBS = 20;
const WARM_UP = 5;
const TIMEOUT_MS = 3_600_000;
const RHYTHM: ReadonlySet<string> = new Set([
  'heartbeat.acked',
  'heartbeat.composed',
  'heartbeat.received',
]);

export const jobsTurns: Field = {
  name: 'turnsPerJob',
  about: 'turns of a job of one workflow, of the datacenter and of the worker, counted',
  better: 'lower',
  goal: 12,
  stretch: 9,
  measure,
};

/** How often each kind took each event. */
type Turns = Map<string, number>;

async function measure({ sizes, isQuick }: MeasureOptions): Promise<Measured> {
  const jobs = sizes.jobs ?? (isQuick ? QUICK_JOBS : JOBS);
  const system = await startSystem({
    workers: 1,
    cores: 16,
    handlers: { atOnce: async () => 'done' },
  });
  const turns: Turns = new Map();
  for (let job = 0; job < WARM_UP; job += 1) await complete(system, `warm-${job}`);
  const readers = [system.manager, ...system.workers].map(({ runtime }) =>
    runtime.inspect((record) => {
      if (record.type !== 'turn' || RHYTHM.has(record.event.type)) return;
      const name = `${record.address.slice(0, record.address.indexOf('/'))} ${record.event.type}`;
      turns.set(name, (turns.get(name) ?? 0) + 1);
    }),
  );
  const each: number[] = [];
  for (let job = 0; job < jobs; job += 1) {
    const before = totalOf(turns);
    await complete(system, `j${job}`);
    each.push(totalOf(turns) - before);
  }
  for (const end of readers) end();
  await system.check({ completed: WARM_UP + jobs });
  await system.stop();
  return {
    value: median(each),
    range: rangeOf(each),
    rounds: jobs,
    details: {
      jobs,
      byKindAndEvent: Object.fromEntries(
        [...turns]
          .sort(([, one], [, other]) => other - one)
          .map(([name, count]) => [name, rounded(count / jobs)]),
      ),
    },
    raw: { turns: each },
  };
}

const totalOf = (turns: Turns): number => [...turns.values()].reduce((sum, one) => sum + one, 0);

/** Resolves when nothing of the job is under way any more. */
async function complete(system: JobsSystem, jobId: string): Promise<void> {
  const ended = system.end(jobId);
  await system.submit({
    jobId,
    timeoutMs: TIMEOUT_MS,
    workflows: [{ id: 'w', handler: 'atOnce' }],
  });
  await ended;
  await system.rest();
}

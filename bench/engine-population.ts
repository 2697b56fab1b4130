/**
 * Cost of an end and of a spawn among 100,000 live actors against among 1,000.
 *
 * Both populations are held at once and take turns. An end: an event that leads to a final
 * state, of an actor picked at random, until the turn is committed. A spawn: `spawnRoot` in
 * another actor's turn, until the spawn is committed and acknowledged. What follows (spawns
 * in the place of ended actors, ends of spawned ones) is not timed. All stay in memory.
 *
 * For information, the same with plain XState: `send` to a final state, and createActor().start().
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { createActor, setup } from 'xstate';
import { type ActorHandle, createRuntime, type Runtime } from '../index.ts';
import { spawnRoot } from '../runtime/machine.ts';
import { closedLoop, Sequence } from './closed-loop.ts';
import { JOB_INPUT, jobMachine } from './job-machine.ts';
import { type Case, interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const FEW = 1_000;
const MANY = 100_000;
/** Ended or spawned at once; a sample is several of these. */
const BATCH = 500;
const BATCHES = 8;
const PARENTS = 10;
const RETENTION_MS = 200;

export const stopGrowth: Field = {
  name: 'stopCostGrowth',
  about: 'cost of an end with 100,000 actors live ÷ with 1,000 live',
  better: 'lower',
  goal: 1.3,
  stretch: 1.1,
  measure: (options) => measureGrowth(options, endsOf, xstateEndsOf),
};

export const spawnGrowth: Field = {
  name: 'childSpawnGrowth',
  about: 'cost of a birth by message with 100,000 actors live ÷ with 1,000 live',
  better: 'lower',
  goal: 1.3,
  stretch: 1.1,
  measure: (options) => measureGrowth(options, spawnsOf, xstateSpawnsOf),
};

interface Population extends Case {
  end(): Promise<void> | void;
}

async function measureGrowth(
  options: MeasureOptions,
  engine: (name: string, live: number) => Promise<Population>,
  xstate: (name: string, live: number) => Population,
): Promise<Measured> {
  const many = options.isQuick ? MANY / 10 : MANY;
  const populations = [
    await engine('few', FEW),
    await engine('many', many),
    xstate('xstateFew', FEW),
    xstate('xstateMany', many),
  ];
  options.progress(`  populations of ${FEW} and ${many} are live`);
  const raw = await interleave(populations, options);
  for (const { end } of populations) await end();
  const perRound = ratios(raw, 'many', 'few');
  return {
    value: rounded(median(perRound)),
    range: rangeOf(perRound),
    rounds: perRound.length,
    details: {
      few: FEW,
      many,
      operationsPerSample: BATCH * BATCHES,
      microsecondsEach: Object.fromEntries(
        Object.entries(raw).map(([name, samples]) => [name, summary(samples)]),
      ),
      xstateGrowth: summary(ratios(raw, 'xstateMany', 'xstateFew')),
    },
    raw,
  };
}

async function endsOf(name: string, live: number): Promise<Population> {
  const runtime = await createRuntime({
    kinds: { job: jobMachine },
    limits: { liveActorsMax: 4 * (live + BATCH) },
  });
  // A batch more than asked for, so that as many are live after a batch has ended.
  const count = live + BATCH;
  const begin = async (index: number): Promise<void> => {
    const job = await runtime.spawn(`job/${index}`, { input: JOB_INPUT });
    await job.send({ type: 'job.started' });
  };
  await closedLoop(count, 1_000, begin);
  const sequence = new Sequence(live);
  return {
    name,
    async run() {
      let spentMs = 0;
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const picked = sequence.pick(BATCH, count);
        const jobs = picked.map((index) => runtime.actor(`job/${index}`));
        const startedAt = performance.now();
        await Promise.all(jobs.map((job) => job.send({ type: 'job.completed' })));
        spentMs += performance.now() - startedAt;
        if (jobs.some((job) => job.getSnapshot().status !== 'done'))
          throw new Error(`${name}: a job has not ended.`);
        await closedLoop(BATCH, BATCH, (number) => begin(picked[number] as number));
      }
      return microsecondsEach(spentMs);
    },
    async end() {
      const { live: held } = runtime.counts();
      if (held !== count) throw new Error(`${name}: ${held} actors of ${count} are in memory.`);
      await runtime.stop();
    },
  };
}

const parentMachine = setup({
  types: { events: {} as { readonly type: 'child.wanted'; readonly address: `job/${string}` } },
}).createMachine({
  id: 'parent',
  on: {
    'child.wanted': {
      actions: spawnRoot(
        ({ event }) => event.address,
        () => JOB_INPUT,
      ),
    },
  },
});

async function spawnsOf(name: string, live: number): Promise<Population> {
  const runtime = await createRuntime({
    kinds: { job: jobMachine, parent: parentMachine },
    limits: { liveActorsMax: 4 * (live + 2 * BATCH), endedRetentionMs: RETENTION_MS },
  });
  const parents: ActorHandle<typeof parentMachine>[] = [];
  await closedLoop(PARENTS, 1, async (index) => {
    parents.push(await runtime.spawn(`parent/${index}`));
  });
  await closedLoop(live, 1_000, (index) => runtime.spawn(`job/${index}`, { input: JOB_INPUT }));
  const { live: held } = runtime.counts();
  let born = live;
  return {
    name,
    async run() {
      let spentMs = 0;
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const addresses = Array.from({ length: BATCH }, (): `job/${string}` => `job/${born++}`);
        const startedAt = performance.now();
        const asked = addresses.map((address, number) =>
          parents[number % PARENTS]?.send({ type: 'child.wanted', address }),
        );
        await Promise.all(asked);
        await acknowledged(runtime);
        spentMs += performance.now() - startedAt;
        const jobs = addresses.map((address) => runtime.actor(address));
        if (jobs.some((job) => job.getSnapshot().value !== 'queued'))
          throw new Error(`${name}: a job was not born.`);
        await closedLoop(BATCH, BATCH, async (number) =>
          jobs[number]?.send({ type: 'job.cancelled' }),
        );
      }
      // The ended ones are forgotten before the next sample begins.
      while (runtime.counts().live > held) await sleep(20);
      return microsecondsEach(spentMs);
    },
    end: () => runtime.stop(),
  };
}

/** Spawns are acknowledged after their commit, which is in memory: a few turns of the event loop. */
async function acknowledged(runtime: Pick<Runtime, 'counts'>): Promise<void> {
  while (runtime.counts().underWay > 0) await new Promise(setImmediate);
}

function xstateEndsOf(name: string, live: number): Population {
  const begin = () => {
    const actor = createActor(jobMachine, { input: JOB_INPUT }).start();
    actor.send({ type: 'job.started', at: 0 });
    return actor;
  };
  const actors = Array.from({ length: live + BATCH }, begin);
  const sequence = new Sequence(live);
  return {
    name,
    run() {
      let spentMs = 0;
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const picked = sequence.pick(BATCH, actors.length);
        const startedAt = performance.now();
        for (const index of picked) actors[index]?.send({ type: 'job.completed', at: 0 });
        spentMs += performance.now() - startedAt;
        for (const index of picked) actors[index] = begin();
      }
      return microsecondsEach(spentMs);
    },
    end() {
      for (const actor of actors) actor.stop();
    },
  };
}

function xstateSpawnsOf(name: string, live: number): Population {
  const begin = () => createActor(jobMachine, { input: JOB_INPUT }).start();
  const actors = Array.from({ length: live }, begin);
  return {
    name,
    run() {
      let spentMs = 0;
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const startedAt = performance.now();
        const born = Array.from({ length: BATCH }, begin);
        spentMs += performance.now() - startedAt;
        for (const actor of born) actor.stop();
      }
      return microsecondsEach(spentMs);
    },
    end() {
      for (const actor of actors) actor.stop();
    },
  };
}

function microsecondsEach(spentMs: number): number {
  return (spentMs * 1_000) / (BATCH * BATCHES);
}

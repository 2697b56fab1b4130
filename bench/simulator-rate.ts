/**
 * Speed of the simulator: a cluster of three datacenters, sixty simulated minutes, by seeds.
 *
 * One process, one core, all invariants watching, faults of the default swarm. An event is a turn
 * taken, or the message delivered or timer fired that it took. Rounds play the same seeds again, so a machine that was
 * disturbed shows in the range.
 */

import { drawPlan, play, type Topology } from '../simulator/jobs.ts';
import { collectGarbage, median, rangeOf, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const SEEDS = 50;
const QUICK_SEEDS = 5;
const UNTIL_MS = 3_600_000;
const JOBS = 2;
const DATACENTER = { managers: 3, workers: 1 };
const TOPOLOGY: Topology = {
  gates: 1,
  datacenters: { A: DATACENTER, B: DATACENTER, C: DATACENTER },
};

export const simulatorEvents: Field = {
  name: 'eventsPerSecPerCore',
  about: 'turns, and the messages and timers that they took, per second of one core, invariants on',
  better: 'higher',
  goal: 50_000,
  stretch: 100_000,
  measure: (options) => measure(options, ({ events, cpuMs }) => (events * 1_000) / cpuMs),
};

export const simulatorSpeedup: Field = {
  name: 'speedup',
  about: 'simulated time per real time, 3 datacenters of 3 managers and a worker, 2 jobs, 60 min',
  better: 'higher',
  goal: 2_000,
  stretch: 10_000,
  measure: (options) => measure(options, ({ simulatedMs, tookMs }) => simulatedMs / tookMs),
};

interface Sample {
  readonly events: number;
  readonly simulatedMs: number;
  readonly cpuMs: number;
  readonly tookMs: number;
}

async function measure(
  options: MeasureOptions,
  figure: (sample: Sample) => number,
): Promise<Measured> {
  const seeds = options.isQuick ? QUICK_SEEDS : SEEDS;
  await sampleOf(QUICK_SEEDS);
  const samples: Sample[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    collectGarbage();
    const sample = await sampleOf(seeds);
    samples.push(sample);
    options.progress(`  round ${round + 1}: ${Math.round(figure(sample))}`);
  }
  const figures = samples.map(figure);
  return {
    value: rounded(median(figures)),
    range: rangeOf(figures),
    rounds: figures.length,
    details: {
      seeds: `1 to ${seeds}`,
      events: samples[0]?.events,
      simulatedHours: rounded((samples[0]?.simulatedMs ?? 0) / UNTIL_MS),
      speedup: summary(samples.map(({ simulatedMs, tookMs }) => simulatedMs / tookMs)),
      eventsPerSecond: summary(samples.map(({ events, cpuMs }) => (events * 1_000) / cpuMs)),
    },
    raw: { figure: figures },
  };
}

async function sampleOf(seeds: number): Promise<Sample> {
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  let events = 0;
  let simulatedMs = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const plan = drawPlan(seed, { topology: TOPOLOGY, jobs: JOBS, untilMs: UNTIL_MS });
    const { events: played, endedAtMs, judgement } = await play(plan);
    if (judgement.violations.length > 0) throw new Error(`Seed ${seed} broke an invariant.`);
    events += played;
    simulatedMs += endedAtMs;
  }
  const { user, system } = process.cpuUsage(cpu);
  const tookMs = performance.now() - startedAt;
  return { events, simulatedMs, cpuMs: (user + system) / 1_000, tookMs };
}

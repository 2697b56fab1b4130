/**
 * Plans of chance that real processes can play: a small cluster, a drawn workload, and crashes,
 * pauses and partitions as steps.
 *
 * They come from the simulator's own drawing, restricted to the faults that a signal or a proxy can
 * make. Those are written down as steps at their times, so that both play the same. A seed whose
 * jobs do not all end in the simulator within seconds of the processes' time is passed over.
 */

import type { Nemesis } from '../../simulator/faults/nemesis.ts';
import { nodesIn, nodesOf } from '../../simulator/jobs/names.ts';
import type { Plan, Step, Topology } from '../../simulator/jobs/plan.ts';
import type { ScenarioResult } from '../../simulator/jobs/scenario/result.ts';
import { drawPlan } from '../../simulator/jobs/swarm/draw-plan.ts';
import { scaledPlan } from './scaled-plan.ts';
import { simulate } from './simulated.ts';

/** How much faster than drawn they are played. */
const FACTOR = 30;
const DRAWN_UNTIL_MS = 240_000;
/** On the clock of the processes. */
const LASTS_MAX_MS = 15_000;
const FAULTS_MAX = 3;
const DOWN_LEAST_MS = 3_000;
/** So long before the last end something has to go wrong. */
const STRUCK_MS = 500;
const JOBS = 3;
const TRIES = 500;

const TOPOLOGIES: readonly Topology[] = [
  { gates: 0, datacenters: { A: { managers: 2, workers: 2 } } },
  { gates: 1, datacenters: { A: { managers: 2, workers: 1 }, B: { managers: 1, workers: 1 } } },
];

export interface RandomPlan {
  readonly seed: number;
  /** At the pace of the processes. */
  readonly plan: Plan;
  readonly simulated: ScenarioResult;
}

/** This many plans, of the first seeds from `from` on that are fit. */
export async function drawPlans(count: number, from: number): Promise<readonly RandomPlan[]> {
  const plans: RandomPlan[] = [];
  for (let seed = from; plans.length < count && seed < from + TRIES; seed += 1) {
    const plan = drawFor(seed);
    if (plan === undefined) continue;
    const simulated = await simulate(plan);
    if (isFit(plan, simulated)) plans.push({ seed, plan, simulated });
  }
  return plans;
}

function drawFor(seed: number): Plan | undefined {
  const topology = TOPOLOGIES[seed % TOPOLOGIES.length] as Topology;
  const drawn = drawPlan(seed, {
    topology,
    jobs: JOBS,
    untilMs: DRAWN_UNTIL_MS,
    nemeses: Object.keys(AS_STEPS),
    // Bounds of the simulator are none of a process that is configured as users do it.
    tiny: false,
  });
  const { nemeses } = drawn;
  if (nemeses.length === 0 || nemeses.length > FAULTS_MAX || overlap(nemeses)) return undefined;
  const faults = nemeses.flatMap((nemesis) => AS_STEPS[nemesis.kind]?.(nemesis, topology) ?? []);
  const said = drawn.steps.filter(({ do: what }) => what !== 'ask');
  const steps = [...said.map(playable), ...faults].sort((one, other) => one.atMs - other.atMs);
  const network = { delayMs: [0, 2], loss: 0, duplicate: 0, reorder: 0 } as const;
  const plan = { ...drawn, steps, network, nemeses: [], healAtMs: null, untilMs: null };
  const scaled = scaledPlan(plan, FACTOR);
  return scaled.steps.every(isBounded) ? scaled : undefined;
}

/** A job ends with its time at the latest, and an operator adds to it. */
function isBounded(step: Step): boolean {
  if (step.do === 'extendJob') return step.byMs <= LASTS_MAX_MS / 3;
  return step.do !== 'submit' || step.atMs + step.job.timeoutMs <= LASTS_MAX_MS;
}

const isFault = (step: Step): boolean => ['crash', 'pause', 'partition'].includes(step.do);

/** Two faults at the same time may undo each other's end. */
function overlap(nemeses: readonly Nemesis[]): boolean {
  const inOrder = [...nemeses].sort((one, other) => one.atMs - other.atMs);
  return inOrder.some((one, index) => {
    const next = inOrder[index + 1];
    return next !== undefined && next.atMs <= one.atMs + one.durMs + 60_000;
  });
}

const AS_STEPS: Readonly<
  Record<string, (nemesis: Nemesis, topology: Topology) => readonly Step[]>
> = {
  crashNodes: ({ atMs, durMs, targets }) =>
    targets.flatMap((node) => [
      { atMs, do: 'crash', node } as const,
      // Of what is due in one moment chance decides what comes first.
      { atMs: atMs + Math.max(durMs, DOWN_LEAST_MS), do: 'restart', node } as const,
    ]),
  pauseNodes: ({ atMs, durMs, targets }) =>
    targets.map((node) => ({ atMs, do: 'pause', node, forMs: durMs }) as const),
  isolateNodes: ({ atMs, durMs, targets }, topology) => {
    const others = nodesOf(topology).filter((node) => !targets.includes(node));
    return others.length === 0
      ? []
      : [{ atMs, do: 'partition', sides: [targets, others], forMs: durMs }];
  },
  partDatacenters: ({ atMs, durMs, targets }, topology) => {
    const there = targets.flatMap((datacenter) => nodesIn(topology, datacenter));
    return [{ atMs, do: 'partition', sides: [['gate-1'], there], forMs: durMs }];
  },
};

/** Without what only the simulator's network can do, and with targets as a client names them. */
function playable(step: Step): Step {
  if (step.do !== 'submit') return step;
  const { datacenters, ...job } = step.job;
  const workflows = job.workflows.map(({ rejects: _, ...workflow }) => workflow);
  const malformed = datacenters === undefined ? {} : { targetDatacenters: datacenters };
  return { ...step, job: { ...job, workflows, malformed } };
}

/** Everything ends, and not before the first fault. */
function isFit({ steps }: Plan, { jobs, endedAtMs, violations }: ScenarioResult): boolean {
  const ends = Object.values(jobs).flatMap(({ gate, datacenters }) => [
    ...(gate === null ? [] : [gate]),
    ...Object.values(datacenters),
  ]);
  const haveEnded = ends.length > 0 && ends.every(({ atMs }) => atMs !== null);
  const firstFaultMs = Math.min(...steps.filter(isFault).map(({ atMs }) => atMs));
  const lastEndMs = Math.max(...ends.map(({ atMs }) => atMs ?? 0));
  const isStruck = firstFaultMs + STRUCK_MS <= lastEndMs;
  return haveEnded && isStruck && endedAtMs <= LASTS_MAX_MS && violations.length === 0;
}

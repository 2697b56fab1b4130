/** Plays a plan of chance on real processes and judges it. */

import type { RealResult } from './outcome.ts';
import { playOnProcesses } from './play.ts';
import {
  type Allowed,
  allowedBy,
  judgeOutcomes,
  lostJobs,
  type RandomVerdict,
} from './random-agreement.ts';
import { drawPlans, type RandomPlan } from './random-plan.ts';

export interface PreparedPlan extends RandomPlan {
  readonly allowed: Allowed;
}

export interface RandomPlay extends RandomVerdict {
  readonly seed: number;
  readonly seconds: number;
}

const VARIANTS = 12;

/** Draws plans and finds out what they allow: before any process runs. */
export async function preparePlans(count: number, from: number): Promise<readonly PreparedPlan[]> {
  const prepared: PreparedPlan[] = [];
  for (const drawn of await drawPlans(count, from))
    prepared.push({ ...drawn, allowed: await allowedBy(drawn.plan, VARIANTS) });
  return prepared;
}

export async function playRandom(
  { seed, plan, simulated, allowed }: PreparedPlan,
  program?: string,
): Promise<RandomPlay> {
  const isOver = ({ jobs }: RealResult): boolean =>
    judgeOutcomes(allowed, jobs).wrong.length === 0 && !hasOpen(jobs);
  const play = await playOnProcesses({ plan, factor: 1, simulated, isOver, program });
  const { jobs } = play.real;
  const verdict = judgeOutcomes(allowed, jobs);
  const wrong = [...verdict.wrong, ...lostJobs(play.calls, jobs), ...play.troubles];
  return { ...verdict, wrong, seed, seconds: play.seconds };
}

function hasOpen(jobs: RealResult['jobs']): boolean {
  const ends = Object.values(jobs).flatMap(({ gate, datacenters }) => [
    ...(gate === null ? [] : [gate]),
    ...Object.values(datacenters),
  ]);
  return ends.some(({ status }) => status === 'submitted' || status === 'running');
}

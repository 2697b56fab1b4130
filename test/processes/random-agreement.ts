/**
 * Check that a random plan came to what the simulator allows, when real processes have played it.
 *
 * "Agrees" means: every job that was accepted has exactly one end at every place that took it, all
 * places say the same later, and no fence fell. Beyond that, an outcome must be the simulator's
 * where the plan leaves no choice. That is found out by playing variants of it, in which steps come
 * a little later, frames take longer and chance is another one: where all variants come to the same
 * status and reason, so must the processes. Where variants differ, the moment decides, and what the
 * processes came to is only said to be among what variants came to, or to be new.
 */

import type { SubmissionAnswer } from '../../machines/jobs/messages/client.ts';
import type { Plan, Step } from '../../simulator/jobs/plan.ts';
import type { JobEnd } from '../../simulator/jobs/scenario/result.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import type { Call } from './scene.ts';
import { simulate } from './simulated.ts';

/** How late a step of real processes may be, and how long a process takes to be there again. */
const LATE_MS = 400;
const START_MS = 1_500;
const DELAYS_MS: ReadonlyArray<readonly [number, number]> = [
  [0, 2],
  [1, 20],
  [5, 120],
];

/** By `job@place`: every outcome that a variant came to. */
export type Allowed = ReadonlyMap<string, ReadonlySet<string>>;

export async function allowedBy(plan: Plan, variants: number): Promise<Allowed> {
  const allowed = new Map<string, Set<string>>();
  for (let number = 0; number < variants; number += 1) {
    const { jobs } = await simulate(variantOf(plan, number));
    for (const [key, outcome] of outcomesOf(jobs)) {
      const known = allowed.get(key) ?? new Set();
      allowed.set(key, known.add(outcome));
    }
  }
  return allowed;
}

/** By `job@place`. */
function outcomesOf(jobs: Readonly<Record<string, JobEnd>>): ReadonlyMap<string, string> {
  const outcomes = new Map<string, string>();
  for (const [jobId, { gate, datacenters }] of Object.entries(jobs)) {
    if (gate !== null) outcomes.set(`${jobId}@gate`, `${gate.status}/${gate.reason}`);
    for (const [name, { status, reason }] of Object.entries(datacenters))
      outcomes.set(`${jobId}@${name}`, `${status}/${reason}`);
  }
  return outcomes;
}

export interface RandomVerdict {
  /** Outcomes that had to be the same, and were. */
  readonly decided: number;
  /** Where variants differ, and the processes came to what one of them came to. */
  readonly among: number;
  /** Where variants differ, and none came to it. */
  readonly unseen: readonly string[];
  /** What must not be. */
  readonly wrong: readonly string[];
}

export function judgeOutcomes(
  allowed: Allowed,
  real: Readonly<Record<string, JobEnd>>,
): RandomVerdict {
  const verdict = { decided: 0, among: 0, unseen: [] as string[], wrong: [] as string[] };
  const found = outcomesOf(real);
  for (const [key, outcomes] of allowed) {
    const outcome = found.get(key) ?? 'nothing';
    const names = [...outcomes].join(', ');
    if (outcomes.has(outcome)) verdict[outcomes.size === 1 ? 'decided' : 'among'] += 1;
    else if (outcomes.size > 1) verdict.unseen.push(`${key}: ${outcome}, not ${names}`);
    else verdict.wrong.push(`${key}: expected ${names}, got ${outcome}`);
  }
  return verdict;
}

/** Jobs that were accepted and have not ended, or are not known any more. */
export function lostJobs(
  calls: readonly Call[],
  real: Readonly<Record<string, JobEnd>>,
): readonly string[] {
  return calls.flatMap(({ request, jobId, to, answer }) => {
    const { accepted } = (answer?.body ?? {}) as Partial<SubmissionAnswer>;
    if (request !== 'submit' || accepted !== true) return [];
    const job = real[jobId];
    const end = to.startsWith('gate-') ? job?.gate : job?.datacenters[to];
    if (end === undefined || end === null) return [`${jobId} was accepted by ${to} and is lost`];
    return end.status === 'submitted' || end.status === 'running'
      ? [`${jobId} was accepted by ${to} and has not ended`]
      : [];
  });
}

function variantOf(plan: Plan, number: number): Plan {
  if (number === 0) return plan;
  const random = new SeededRandom(plan.seed, `variant/${number}`);
  // After its crash, however late that was.
  const lateBy = (step: Step): number =>
    step.do === 'restart' ? LATE_MS + random.next() * START_MS : random.next() * LATE_MS;
  const steps = plan.steps
    .map((step) => ({ ...step, atMs: step.atMs + Math.round(lateBy(step)) }))
    .sort((one, other) => one.atMs - other.atMs);
  const delayMs = DELAYS_MS[number % DELAYS_MS.length] as readonly [number, number];
  return {
    ...plan,
    seed: plan.seed + number * 1_000_003,
    network: { ...plan.network, delayMs },
    steps,
  };
}

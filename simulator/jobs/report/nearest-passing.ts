/**
 * The nearest passing run: the smallest change of a failing plan after which everything holds, and where
 * the two runs part. The job that fails is in both: a run without it says nothing about it.
 *
 * Guarantees: the run was played and broke nothing. Where runs part is the first record that is not the
 * same; that a fault was begun or not, which is what was changed, does not count.
 */

import { type PassingRun as AnyPassingRun, partingOf } from '../../explanation.ts';
import type { Plan } from '../plan.ts';
import type { Run } from '../run.ts';
import type { Candidate } from './reduction.ts';
import { fewerNemeses } from './reductions-faults.ts';
import type { Player } from './shrink.ts';

export type PassingRun = AnyPassingRun<Run>;

/** Number of passing runs that are compared. */
const COMPARED_MAX = 3;
/** Played at most; a change that breaks something else is of no use. */
const PLAYED_MAX = 8;

/** `candidates`: what is known to make the invariant hold, the best first. */
export async function nearestPassing(
  failing: Run,
  candidates: readonly Candidate[],
  play: Player,
): Promise<PassingRun | undefined> {
  const found: PassingRun[] = [];
  const kept = candidatesOf(failing.plan, candidates).filter(({ plan }) =>
    hasSameJob(plan, failing),
  );
  for (const { plan, change } of kept.slice(0, PLAYED_MAX)) {
    if (found.length >= COMPARED_MAX) break;
    const run = await play(plan).catch(() => undefined);
    if (run === undefined || run.judgement.violations.length > 0) continue;
    const { history } = failing;
    found.push({ run, change, parting: partingOf(history.records, run.history.records) });
  }
  const latest = (one: PassingRun): number => one.parting?.failing?.index ?? -1;
  return found.sort((one, other) => latest(other) - latest(one))[0];
}

/** When there was no time to find any: without one fault, or without all. */
function candidatesOf(plan: Plan, candidates: readonly Candidate[]): readonly Candidate[] {
  if (candidates.length > 0) return candidates;
  // Only the parts of the list matter to it, and not what was seen.
  const unseen = { invariant: '', says: '', what: '', atMs: 0, node: '', record: null };
  return [...fewerNemeses.candidates(plan, unseen)].reverse();
}

/** Whether the plan submits all that the violation names, as the failing one does. */
function hasSameJob(plan: Plan, { plan: own, judgement }: Run): boolean {
  const what = judgement.violations[0]?.what ?? '';
  const isMeant = (jobId: string): boolean =>
    what.includes(`/${jobId}@`) || what.includes(`/${jobId}/`);
  const jobsOf = ({ steps }: Plan): readonly string[] =>
    steps.flatMap((step) => (step.do === 'submit' ? [step.job.jobId] : [])).filter(isMeant);
  // Some faults submit a job of their own, under their own name.
  const faultsOf = ({ nemeses }: Plan): readonly string[] =>
    nemeses.map(({ id }) => id).filter((id) => what.includes(`/${id}-`));
  const isKept = (all: readonly string[], some: readonly string[]): boolean =>
    some.every((one) => all.includes(one));
  return isKept(jobsOf(plan), jobsOf(own)) && isKept(faultsOf(plan), faultsOf(own));
}

/**
 * Only what the charts allow happens: from one turn to the next a job, a workflow and a gate's job
 * move along the edges of their charts, or along several of them that belong to one turn.
 *
 * What a turn passes through without resting there is not seen, so the tables have for each state
 * all those in which a turn that began there may end.
 */

import type { JobsInvariant } from '../facts.ts';
import { type JobStep, jobsOf, watching } from './reading-jobs.ts';
import type { Step } from './reading-steps.ts';

type Chart = Readonly<Record<string, readonly string[]>>;

const ENDS = ['completed', 'failed', 'cancelled', 'timedOut'];

const JOB: Chart = {
  assembling: ['assembling', 'active', 'ending', ...ENDS],
  active: ['active', 'ending', ...ENDS],
  ending: ['ending', ...ENDS],
  completed: [],
  failed: [],
  cancelled: [],
  timedOut: [],
};

/** Where an attempt that came to nothing leads: to another one, at once or after a pause, or to none. */
const FAILED = ['FAILED_READY_FOR_RETRY', 'PENDING', 'FAILED_FOR_GOOD'];

const WORKFLOW: Chart = {
  PENDING: ['PENDING', 'DISPATCHED', 'CANCELLED', 'FAILED_FOR_GOOD'],
  DISPATCHED: ['DISPATCHED', 'RUNNING', 'COMPLETED', 'CANCELLING', ...FAILED],
  RUNNING: ['RUNNING', 'COMPLETED', 'AGGREGATED', 'CANCELLING', ...FAILED],
  FAILED_READY_FOR_RETRY: ['FAILED_READY_FOR_RETRY', 'PENDING', 'CANCELLED'],
  CANCELLING: ['CANCELLING', 'CANCELLED'],
  COMPLETED: [],
  AGGREGATED: [],
  CANCELLED: [],
  FAILED_FOR_GOOD: [],
};

const DECIDED = ['settled', 'closed'];

const GATE_JOB: Chart = {
  dispatching: ['dispatching', 'waitingForRoom', 'tracking', 'declaring', 'cancelling', ...DECIDED],
  waitingForRoom: ['waitingForRoom', 'tracking', 'declaring', 'cancelling', ...DECIDED],
  tracking: ['tracking', 'declaring', 'cancelling', 'recovering', ...DECIDED],
  declaring: ['declaring', 'tracking', 'recovering', ...DECIDED],
  cancelling: ['cancelling', 'recovering', ...DECIDED],
  recovering: ['recovering', 'tracking', 'declaring', 'cancelling', ...DECIDED],
  settled: DECIDED,
  closed: [],
};

/** What a job has decided stays decided. */
const STATUSES: Chart = {
  submitted: ['submitted', 'running', ...ENDS],
  running: ['running', ...ENDS],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  timedOut: ['timedOut'],
};

/** TS-3. */
export const chartsAreKept: JobsInvariant = {
  id: 'TS-3',
  kind: 'safety',
  says: 'Jobs, workflows and the jobs of gates only move as their charts allow.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const check = (step: Step<unknown>, chart: Chart): void => {
      const { record, stateBefore } = step;
      if (stateBefore === undefined || stateBefore === record.state) return;
      const from = outermost(stateBefore);
      const to = outermost(record.state);
      verdict.exercised();
      if (chart[from]?.includes(to) !== true)
        verdict.broken(`${record.address} went from ${from} to ${to}`, record);
    };
    const job = (step: JobStep): void => {
      check(step, JOB);
      checkDecided(step, (what) => verdict.broken(what, step.record));
    };
    return watching(jobs, {
      job,
      workflow: (step) => check(step, WORKFLOW),
      gateJob: (step) => check(step, GATE_JOB),
    });
  },
};

/** The outermost state of what a record says: one word, or the first name in the text. */
function outermost(state: string): string {
  return state.startsWith('{"') ? state.slice(2, state.indexOf('"', 2)) : state;
}

/** A job that has begun, reported or been found due does not become one that has not. */
function checkDecided({ before, after, record }: JobStep, broken: (what: string) => void): void {
  if (before === undefined) return;
  if (STATUSES[before.status]?.includes(after.status) !== true)
    broken(`${record.address} was ${before.status} and is ${after.status}`);
  if (before.timeoutReportedAt !== null && after.timeoutReportedAt === null)
    broken(`${record.address} has forgotten that it has reported`);
  if (before.shadows.length > after.shadows.length)
    broken(`${record.address} has forgotten what it was found to be`);
}

/**
 * The jobs of a run as its records tell them: what all invariants about jobs read from.
 *
 * There is one reading for each time that a run is judged, shared by its invariants, so that a
 * record is read once. A watcher that begins after the first record was read gets a new one.
 */

import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import type { HistoryRecord } from '../../history.ts';
import { type CommitRecord, lostDisk, type Watcher } from '../../invariants.ts';
import type { JobsFacts } from '../facts.ts';
import { Accounts } from './reading-accounts.ts';
import { Clocks } from './reading-clocks.ts';
import { type Step, Steps, type TurnRecord } from './reading-steps.ts';

export type JobStep = Step<JobContext>;
export type GateJobStep = Step<GateJobContext>;
export type WorkflowStep = Step<WorkflowContext>;

type RecordNamed<TType> = Extract<HistoryRecord, { readonly type: TType }>;

/** What an invariant does at a turn of each kind; see `watching`. */
export interface StepHearers {
  readonly job?: (step: JobStep) => void;
  readonly gateJob?: (step: GateJobStep) => void;
  readonly workflow?: (step: WorkflowStep) => void;
  /** Before anything else of the record. */
  readonly turn?: (record: TurnRecord) => void;
  readonly commit?: (record: CommitRecord) => void;
  /** All that is known of a place's actors is void. */
  readonly forget?: (place: string) => void;
}

export class Jobs {
  readonly jobs = new Steps<JobContext>('job');
  readonly gateJobs = new Steps<GateJobContext>('gate-job');
  readonly workflows = new Steps<WorkflowContext>('workflow');
  readonly clocks = new Clocks();
  readonly accounts: Accounts;
  hasBegun = false;

  constructor({ config }: JobsFacts) {
    this.accounts = new Accounts(config);
  }

  commit(record: CommitRecord): void {
    this.hasBegun = true;
    this.jobs.commit(record);
    this.gateJobs.commit(record);
    this.workflows.commit(record);
  }

  forget(place: string): void {
    this.jobs.forget(place);
    this.gateJobs.forget(place);
    this.workflows.forget(place);
    this.accounts.forget(place);
  }
}

const readings = new WeakMap<object, Jobs>();

/** The reading of the run with these facts that is about to be judged. */
export function jobsOf(facts: JobsFacts): Jobs {
  const known = readings.get(facts);
  if (known !== undefined && !known.hasBegun) return known;
  const jobs = new Jobs(facts);
  readings.set(facts, jobs);
  return jobs;
}

/** A watcher that keeps the reading, hears steps instead of turns, and whatever else is in `more`. */
export function watching(
  jobs: Jobs,
  hearers: StepHearers,
  more: Omit<Watcher, 'turn' | 'commit' | 'node' | 'fault'> = {},
): Watcher {
  const { job, gateJob, workflow } = hearers;
  return {
    ...more,
    commit(record) {
      jobs.commit(record);
      hearers.commit?.(record);
    },
    node(record: RecordNamed<'node'>) {
      jobs.hasBegun = true;
      jobs.clocks.node(record);
    },
    fault(record: RecordNamed<'fault'>) {
      const place = lostDisk(record);
      if (place === undefined) return;
      jobs.forget(place);
      hearers.forget?.(place);
    },
    turn(record) {
      jobs.hasBegun = true;
      hearers.turn?.(record);
      if (job !== undefined) hear(job, jobs.jobs.step(record));
      if (gateJob !== undefined) hear(gateJob, jobs.gateJobs.step(record));
      if (workflow !== undefined) hear(workflow, jobs.workflows.step(record));
    },
  };
}

function hear<TContext>(
  hearer: (step: Step<TContext>) => void,
  step: Step<TContext> | undefined,
): void {
  if (step !== undefined) hearer(step);
}

/** What an invariant keeps per actor: started again at each spawn, and when the place's data are gone. */
export class PerActor<TContext, TKept> {
  readonly #kept = new Map<string, TKept>();
  readonly #begin: (step: Step<TContext>) => TKept;

  constructor(begin: (step: Step<TContext>) => TKept) {
    this.#begin = begin;
  }

  of(step: Step<TContext>): TKept {
    const { address } = step.record;
    const isSpawn = step.before === undefined && !step.hasGap;
    let kept = isSpawn ? undefined : this.#kept.get(address);
    if (kept === undefined) {
      kept = this.#begin(step);
      this.#kept.set(address, kept);
    }
    return kept;
  }

  find(address: string): TKept | undefined {
    return this.#kept.get(address);
  }

  forget(place: string): void {
    for (const address of this.#kept.keys())
      if (address.endsWith(`@${place}`)) this.#kept.delete(address);
  }
}

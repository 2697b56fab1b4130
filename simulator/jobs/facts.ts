/**
 * Facts of a run of the jobs system: those beside its history, and what its records say more than those of any
 * system.
 */

import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';
import type { Invariant, RunFacts } from '../invariants.ts';
import type { Bounds } from '../simulation.ts';
import type { PlannedBook } from './plan.ts';

declare module '../history/history.ts' {
  interface WorkFact {
    readonly jobId: string;
    readonly workflowId: string;
    readonly run: number;
  }

  interface CallFact {
    readonly jobId: string;
  }
}

export interface JobsFacts extends RunFacts {
  /** The configuration of all its programs. */
  readonly config: JobsConfiguration;
  readonly gates: readonly string[];
  readonly datacenters: readonly string[];
  /** The book beside it, if there is one. */
  readonly book?: PlannedBook;
  /** Limits that differ from what they are in production, see bounds.ts. */
  readonly bounds?: Bounds;
  /** Mailboxes are so small that hints are dropped by full ones. */
  readonly dropsHints?: boolean;
  /** Nodes have room for so few open questions that those who watch keep others out. */
  readonly refusesQuestions?: boolean;
}

export type JobsInvariant = Invariant<JobsFacts>;

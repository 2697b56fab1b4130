/** Client of the jobs system: what can be asked of a datacenter or a gate, and what a job is when it is submitted. */

import type {
  CancelAnswer,
  ExtendAnswer,
  JobPage,
  JobTerms,
  JobView,
  StuckWorkflow,
  SubmissionAnswer,
  WorkerPage,
  WorkflowSpec,
} from '../../../machines/jobs/messages/client.ts';
import type { JobStatus } from '../../../machines/jobs/words.ts';

/** A workflow as it is submitted; what is left out has its default. */
export type NewWorkflow = Pick<WorkflowSpec, 'id' | 'handler'> &
  Partial<Pick<WorkflowSpec, 'payload' | 'cores' | 'dependsOn'>>;

export interface NewJob extends JobTerms {
  /** Default: a new one. */
  readonly jobId?: string;
  readonly workflows: readonly NewWorkflow[];
}

/** Believed in the process of a manager or a gate only. */
export interface SubmitOptions {
  /** Whose job it is, where the caller asks for others. */
  readonly client?: string;
  /** The caller has checked terms and workflows against their schemas, and filled in the defaults. */
  readonly isChecked?: boolean;
}

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** The `seq` of the view that was seen last: only another one is news. Default: none was. */
  readonly seenSeq?: number;
}

/** Whatever this client may not ask is refused with NOT_ALLOWED, except where its answer has a word for that. */
export interface JobsClient {
  /**
   * Takes a job in, once however often it is asked.
   */
  submit(job: NewJob, options?: SubmitOptions): Promise<SubmissionAnswer>;
  /** The job with all its workflows; undefined when there is none. */
  get(jobId: string): Promise<JobView | undefined>;
  list(options?: {
    readonly status?: JobStatus;
    readonly stuckForMs?: number;
    /** Only jobs whose overall deadline comes sooner than that. */
    readonly deadlineBeforeMs?: number;
    readonly limit?: number;
    readonly cursor?: string;
  }): Promise<JobPage>;
  /** Resolves with the job once it has ended. @throws {RuntimeError} ACTOR_UNKNOWN, ABORTED */
  wait(jobId: string, options?: WaitOptions): Promise<JobView>;
  /** The job at each change of its status, the last one when it has ended. */
  watch(jobId: string, options?: WaitOptions): AsyncIterableIterator<JobView>;
  cancel(jobId: string): Promise<CancelAnswer>;
  /** Adds time. The same `requestId` adds it once. */
  extend(
    jobId: string,
    more: {
      readonly byMs: number;
      readonly by: string;
      readonly requestId?: string;
      readonly datacenter?: string;
    },
  ): Promise<ExtendAnswer>;
  /** Milliseconds since the job, or one of its workflows, got further; undefined when there is none. */
  timeSinceProgress(jobId: string, workflowId?: string): Promise<number | undefined>;
  /** Workflows at work whose last progress is older, the longest first. */
  stuckWorkflows(thresholdMs: number, limit?: number): Promise<readonly StuckWorkflow[]>;
  /** Workers in the order of their names, of every datacenter that answers. */
  workers(options?: { readonly limit?: number; readonly cursor?: string }): Promise<WorkerPage>;
  stop(): Promise<void>;
}

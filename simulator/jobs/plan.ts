/**
 * A plan: everything that makes a run what it is, as data that can be kept and played again.
 *
 * Guarantees: the same plan gives the same run, to the last frame. What people write in a scenario
 * file and what chance makes of a seed is both a plan; so is what shrinking leaves of one. Nodes are
 * called as the programs call them: `gate-1`, `A.manager-1`, `A.worker-1`.
 */

import type { JobTerms } from '../../machines/jobs/messages/client.ts';
import type { JobStatus } from '../../machines/jobs/words.ts';
import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';
import type { Nemesis } from '../faults.ts';
import type { Bounds } from '../simulation.ts';

/** Plans of another version are refused. */
export const PLAN_VERSION = 1;

export interface Plan {
  readonly version: typeof PLAN_VERSION;
  /** Release of Escapement that wrote it into a file. Another one may come to another run. */
  readonly release?: string;
  readonly name: string;
  readonly system: 'jobs';
  readonly seed: number;
  /** Simulated end; null: when all jobs are final, at most after 24 h, or half an hour after all that chance had planned. */
  readonly untilMs: number | null;
  readonly network: NetworkPlan;
  readonly topology: Topology;
  readonly config: Partial<JobsConfiguration>;
  /** Limits other than configuration that differ from what they are in production, see bounds.ts. */
  readonly bounds?: Bounds;
  /** At the same moment in this order. */
  readonly steps: readonly Step[];
  /** A book beside the jobs system, see jobs/book.ts. */
  readonly book?: PlannedBook;
  readonly nemeses: readonly Nemesis[];
  /** From then on the core is healed and left alone, and the run must converge. Null: never. */
  readonly healAtMs: number | null;
  /**
   * Made by chance and not by people: of what is due at the same moment chance decides what comes
   * first, and a step that cannot be done when its time comes is left out.
   */
  readonly isDrawn?: boolean;
  /** How long disks take for a group. Default: no time, or 1 to 3 ms where there are faults. */
  readonly commitMs?: readonly [minMs: number, maxMs: number];
}

/** Entries that a clerk makes by calls with ids, under limits of the two runtimes. */
export interface PlannedBook {
  /** With `pages` it is a task, which makes this many entries by itself. */
  readonly entries: ReadonlyArray<{
    readonly atMs: number;
    readonly id: string;
    readonly pages?: number;
  }>;
  readonly deaths: ReadonlyArray<{
    readonly atMs: number;
    readonly node: string;
    readonly downMs: number;
  }>;
  /** How long the disk of the book takes for a group. */
  readonly commitMs: number;
  readonly mailboxMax: number;
  readonly sendersMax: number;
  readonly outboxMax: number;
  readonly dedupRetentionMs: number;
}

/** How the network is at its best. What a nemesis does to it comes on top. */
export interface NetworkPlan {
  readonly delayMs: readonly [minMs: number, maxMs: number];
  /** A share of all frames: 0.01 is one in a hundred. */
  readonly loss: number;
  readonly duplicate: number;
  readonly reorder: number;
}

export interface Topology {
  readonly gates: number;
  readonly datacenters: Readonly<Record<string, DatacenterTopology>>;
}

export interface DatacenterTopology {
  readonly managers: number;
  readonly workers: number;
  /** Cores of each worker. Default 4. */
  readonly cores?: number;
}

/** Nodes by name; `A.*` are all of a datacenter, and so is the datacenter itself. */
export type NodeSet = readonly string[];

export type Step = { readonly atMs: number } & (
  | { readonly do: 'submit'; readonly job: PlannedJob }
  | { readonly do: 'cancel'; readonly jobId: string; readonly to: string }
  | { readonly do: 'get'; readonly jobId: string; readonly to: string }
  | { readonly do: 'ask'; readonly to: string; readonly question: ServiceQuestion }
  /** An operator gives a job more time. */
  | {
      readonly do: 'extendJob';
      readonly jobId: string;
      readonly to: string;
      readonly byMs: number;
      readonly requestId?: string;
    }
  /** A run on the worker asks for an extension: the newest, unless it is named. */
  | {
      readonly do: 'extend';
      readonly worker: string;
      /**
       * Passed on unchecked; `NaN`, which JSON has no word for, as a text. Without one the run asks
       * with what it last reported, items included.
       */
      readonly progress?: unknown;
      readonly reason: string;
      readonly jobId?: string;
      readonly workflowId?: string;
    }
  | { readonly do: 'crash'; readonly node: string }
  | { readonly do: 'restart'; readonly node: string; readonly forgets?: boolean }
  | { readonly do: 'pause'; readonly node: string; readonly forMs: number }
  | { readonly do: 'partition'; readonly sides: readonly NodeSet[]; readonly forMs: number | null }
  | { readonly do: 'heal' }
  /** This manager takes its datacenter's lease now. */
  | { readonly do: 'lead'; readonly manager: string }
  | {
      readonly do: 'link';
      readonly between: readonly [NodeSet, NodeSet];
      readonly action: 'drop' | { readonly duplicate: number } | { readonly holdMs: number };
      /** As in the specification: `JobTimeoutReport`. */
      readonly messageType?: string;
      readonly count?: number;
    }
  | { readonly do: 'skew'; readonly node: string; readonly byMs: number }
  /** A message as the other side would send it, under its name in the specification. */
  | {
      readonly do: 'inject';
      readonly to: string;
      readonly message: Readonly<Record<string, unknown>>;
    }
);

/** What a jobs service is asked beside one job; `watch` is one wait for news. */
export type ServiceQuestion =
  | {
      readonly kind: 'list';
      readonly status?: JobStatus;
      readonly stuckForMs?: number;
      readonly deadlineBeforeMs?: number;
      readonly limit?: number;
    }
  | { readonly kind: 'stuck'; readonly thresholdMs: number }
  | { readonly kind: 'sinceProgress'; readonly jobId: string; readonly workflowId?: string }
  | { readonly kind: 'workers' }
  | { readonly kind: 'watch'; readonly jobId: string; readonly seenSeq: number };

export interface PlannedJob {
  readonly jobId: string;
  /** A datacenter or a gate. */
  readonly to: string;
  /** Only with a gate; default all. */
  readonly datacenters?: readonly string[];
  readonly timeoutMs: number;
  readonly failFast?: boolean;
  readonly stuckThresholdMs?: number;
  readonly allStuckThresholdMs?: number;
  readonly datacenterTimeoutQuorum?: NonNullable<JobTerms['datacenterTimeoutQuorum']>;
  readonly workflows: readonly PlannedWorkflow[];
  /** Fields that a client would not send, for jobs that must be refused: they replace the others. */
  readonly malformed?: Readonly<Record<string, unknown>>;
}

export interface PlannedWorkflow extends WorkflowScript {
  readonly id: string;
  readonly dependsOn?: readonly string[];
  readonly cores?: number;
  /** Where its first attempt goes: a worker, or one by datacenter. */
  readonly onWorker?: string | Readonly<Record<string, string>>;
  /** What is different in some datacenters. */
  readonly in?: Readonly<Record<string, WorkflowScript>>;
}

/** What the work is like; all times count from the start of each attempt's work. */
export interface WorkflowScript {
  /** Work needed when it runs undisturbed; null: it never ends. */
  readonly runsMs?: number | null;
  /** Null: no progress is reported. Default 5,000. */
  readonly progressEveryMs?: number | null;
  /** The last report is the last one not after this; then it never ends. */
  readonly stopsProgressAtMs?: number;
  /** Each report is followed by a further one, so long after it and further by half a step. */
  readonly secondReportAfterMs?: number;
  /** Fails so often before it succeeds. */
  readonly failsTimes?: number;
  /** Reports items of that many with its progress. */
  readonly completesItems?: number;
  readonly ignoresCancel?: boolean;
  /** Workers refuse its dispatch, always or so often. */
  readonly rejects?: boolean | number;
}

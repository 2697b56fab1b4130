/**
 * Messages between the actors of one datacenter. They never leave the place.
 *
 * Each is kept by its sender until it is taken, but for `workflow.progressed`: progress that a
 * crash swallowed is told again by the worker's next heartbeat.
 */

import type { WorkerState, WorkflowState } from '../words.ts';

/** `workflow` → `job`: the state it has come to rest in. */
export interface WorkflowChanged {
  readonly type: 'workflow.changed';
  readonly workflowId: string;
  readonly state: WorkflowState;
  readonly run: number;
  /** Nothing more will come of it. */
  readonly final: boolean;
  readonly workerId: string | null;
  /** Cause of its last failure. */
  readonly cause: FailureCause | null;
  /** Event that came too late to count: `job` notes it. */
  readonly lateEvent: string | null;
}

export type FailureCause = 'dispatch' | 'workerLost' | 'failed' | 'parentFailed';

/** `workflow` → `job`, a hint: an attempt has got further. */
export interface WorkflowProgressed {
  readonly type: 'workflow.progressed';
  readonly workflowId: string;
  readonly sinceProgressMs: number;
}

/** `job` → `workflow`: all it depends on has succeeded. */
export interface WorkflowReady {
  readonly type: 'workflow.ready';
}

/** `job` → `workflow`: it is not to begin before the job is told that its gate counts on it. */
export interface WorkflowHeld {
  readonly type: 'workflow.held';
}

/** `job` → `workflow`: the job has ended or is cancelled. */
export interface WorkflowCancel {
  readonly type: 'workflow.cancel';
  readonly cause: string;
}

/** `job` → `workflow`: something it depends on has failed for good. */
export interface ParentFailed {
  readonly type: 'parent.failed';
  readonly workflowId: string;
}

/** `job` → `workflow`: the clock of a new leader is behind the one by which limits were set. */
export interface ClockWentBack {
  readonly type: 'clock.wentBack';
}

/** `workflow` → `worker-pool` */
export interface SlotRequested {
  readonly type: 'slot.requested';
  readonly jobId: string;
  readonly attemptId: string;
  readonly cores: number;
  readonly handler: string;
  /** Registrations not to be used while another worker is large enough. */
  readonly avoid: readonly number[];
  /** Workers not to be used while another one is large enough. */
  readonly avoidWorkers: readonly string[];
  readonly acceptedAt: number;
  readonly index: number;
}

/** `workflow` → `worker-pool`: it does not need one any more. */
export interface SlotWithdrawn {
  readonly type: 'slot.withdrawn';
  readonly jobId: string;
  readonly attemptId: string;
}

/** `worker-pool` → `workflow` */
export interface SlotGranted {
  readonly type: 'slot.granted';
  readonly attemptId: string;
  readonly workerId: string;
  readonly registration: number;
  readonly bootEpoch: number;
  readonly cores: number;
  readonly term: number;
}

/** `workflow` → `worker-pool`, once for each reservation. */
export interface SlotReleased {
  readonly type: 'slot.released';
  readonly workerId: string;
  readonly registration: number;
  readonly cores: number;
}

/** Program → `workflow`: it waits since a release that had no lanes, so it asks once more and gets its rank. */
export interface SlotRenew {
  readonly type: 'slot.renew';
}

/** A workflow that waits. What else the pool knows of it is its lane's. */
export interface Waiting {
  readonly jobId: string;
  readonly attemptId: string;
  /** Sort key within the lane. */
  readonly order: string;
  /** Registrations and workers not to be used while another worker is large enough; left out where there are none. */
  readonly avoid?: readonly number[];
  readonly avoidWorkers?: readonly string[];
}

/** Program → `worker-pool`: the lanes of some handlers in which anybody waits. */
export interface LanesFound {
  readonly type: 'lanes.found';
  /** The search that it answers. */
  readonly search: number;
  readonly lanes: readonly string[];
}

/** Program → `worker-pool`: who waits in a lane behind those that it has in memory. */
export interface WaitingFound {
  readonly type: 'waiting.found';
  /** The search that it answers. */
  readonly search: number;
  /** In order. */
  readonly found: readonly Waiting[];
  /** The last in order that was looked at; where nobody was, what was asked for. */
  readonly upTo: string;
  /** Nobody else waits there. */
  readonly isAll: boolean;
}

/** Program → `worker-pool`, whenever it begins to host: the options of this release's configuration. */
export interface LimitsTold {
  readonly type: 'limits.told';
  readonly queueMax: number;
}

/** `worker-pool` → `worker-health`: the worker registered; the number is new unless it said so again. */
export interface RegistrationTold {
  readonly type: 'registration.told';
  readonly registration: number;
  readonly bootEpoch: number;
  readonly coresTotal: number;
  readonly handlers: readonly string[];
  readonly term: number;
  /** Attempts the worker says it has. */
  readonly attempts: readonly string[];
}

/** `worker-health` → `worker-pool` */
export interface WorkerChanged {
  readonly type: 'worker.changed';
  readonly workerId: string;
  readonly registration: number;
  readonly state: WorkerState;
  /** It was heard since the leader of that term took over. */
  readonly heard: boolean;
  readonly term: number;
}

/** `worker-health` → `worker-pool`, `workflow`, `job` */
export interface WorkerLost {
  readonly type: 'worker.lost';
  readonly workerId: string;
  readonly registration: number;
  readonly cause: 'evicted' | 'replaced';
}

/** `worker-health` → `workflow`: the worker does not have the attempt any more. */
export interface AttemptLost {
  readonly type: 'attempt.lost';
  readonly attemptId: string;
}

/** `workflow` → `worker-health`: an attempt was given to the worker. */
export interface AttemptPlaced {
  readonly type: 'attempt.placed';
  readonly jobId: string;
  readonly attemptId: string;
  readonly registration: number;
}

/** `workflow` → `worker-health`: the worker took it, after the heartbeat of that number. */
export interface AttemptRunning {
  readonly type: 'attempt.running';
  readonly jobId: string;
  readonly attemptId: string;
  readonly registration: number;
  readonly heartbeatSeq: number;
}

/** `workflow` → `worker-health`: the attempt is over for the manager. */
export interface AttemptEnded {
  readonly type: 'attempt.ended';
  readonly jobId: string;
  readonly attemptId: string;
  readonly registration: number;
  /**
   * True by the worker's own word: it refused, gave a result, or has stopped. Workflows of earlier
   * releases do not say.
   */
  readonly heard?: boolean;
}

/** `worker-health` → `workflow`, a hint: what a heartbeat said, where it rose. */
export interface AttemptProgressed {
  readonly type: 'attempt.progressed';
  readonly attemptId: string;
  readonly progress: number;
  readonly completedItems?: number | undefined;
  readonly totalItems?: number | undefined;
  readonly sinceProgressMs: number;
}

/** `worker-health` → `job` */
export interface ExtensionCredited {
  readonly type: 'extension.credited';
  readonly creditId: string;
  readonly workerId: string;
  readonly registration: number;
  readonly grantMs: number;
  /** The attempt that asked, for people. */
  readonly operationId: string;
}

/** `job` → `worker-health` */
export interface CreditAnswered {
  readonly type: 'credit.answered';
  readonly creditId: string;
  readonly jobId: string;
  readonly answer: 'applied' | 'void';
}

/** `job` → `worker-health`: it has ended and wants to hear of no loss any more. */
export interface CreditClosed {
  readonly type: 'credit.closed';
  readonly jobId: string;
}

/** From the runtime. */
export interface LeadershipAcquired {
  readonly type: 'leadership.acquired';
  readonly fence: number;
  /** The node that leads now, and where its peers reach it if it knows. */
  readonly node?: string;
  readonly url?: string;
}

/** From the runtime: a receiver refused one of the actor's own messages for good. */
export interface MessageRefused {
  readonly type: 'message.refused';
  readonly to: string;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
  readonly code: string;
}

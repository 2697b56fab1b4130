/**
 * Record of one datacenter in a gate's job: the states of its chart, which is in datacenter.ts, and figures.
 */

import type { Timed } from '../../../runtime/machine.ts';
import type { DecisionEpoch } from '../messages/fields.ts';
import type {
  AckReceived,
  FinalReported,
  LeaderTransferred,
  ProgressReported,
  StatusCorrected,
  StatusFound,
  SubmissionAnswered,
  SubmissionDeferred,
  TimeoutReported,
  WorkflowResultEntry,
} from '../messages/gate.ts';
import type { MessageRefused } from '../messages/local.ts';
import type { GateReason, LocalReason, Outcome, Reason } from '../words.ts';

/**
 * Progress of the datacenter with the job: it was `asked` to take it, has it (`running`, `reported`), has
 * ended it (`final`), did not want it (`refused`), or may have taken it when it was too late (`late`).
 */
export type RunState = 'asked' | 'running' | 'reported' | 'final' | 'refused' | 'late';

/**
 * State of the decision that it was sent. `contradicted`: to be sent again; `deferred`: to be sent again
 * once the datacenter is heard; `gone`: nobody there knows the job, or will ever confirm its end.
 */
export type DecisionState = 'none' | 'sent' | 'accepted' | 'contradicted' | 'deferred' | 'gone';

/** Contact with the datacenter: whether the gate knows how things are there, or only how they were. */
export type ContactState = 'heard' | 'silent' | 'catchingUp';

/** A question how things are; without a nonce it may be lost, and any word answers it. */
export interface Question {
  readonly nonce: string;
  readonly at: number;
}

/** The decision as it was sent last. */
export interface Told {
  readonly epoch: DecisionEpoch;
  /** The fence that was echoed. */
  readonly leaderFence: number;
}

export interface DatacenterFinal {
  readonly status: Outcome;
  readonly reason: Reason | null;
  readonly localReason: LocalReason | null;
  readonly gateReason: GateReason | null;
  /** Time of the end, by the gate's clock. */
  readonly endedAt: number;
  readonly results: readonly WorkflowResultEntry[];
  readonly resultsOmitted: boolean;
}

/** Address at which its leader said that it can be reached; for people. */
export interface ManagerAddress {
  readonly managerHost: string;
  readonly managerPort: number;
}

export interface DatacenterRecord {
  readonly run: RunState;
  readonly decision: DecisionState;
  readonly contact: ContactState;
  /** It said that it has too much to do, and is asked again at that moment. */
  readonly fullUntil?: number;
  /** 0 before anything was heard. */
  readonly leaderFence: number;
  readonly managerId: string;
  /** Addresses at which its leaders say that they can be reached, by name; of those that said so. */
  readonly managerAddrs: Readonly<Record<string, ManagerAddress>>;
  readonly reportSeq: number;
  /** Any valid message. */
  readonly lastSeenAt: number;
  readonly lastProgressAt: number;
  /** Start of the job there by the gate's clock, as the fastest of its words tells; null before the first. */
  readonly startedAt: number | null;
  /** The job's own clock there, when it last gave figures: later ones are newer. */
  readonly elapsedMs: number;
  readonly extensionsMs: number;
  readonly maxWorkerExtensionMs: number;
  readonly workersWithExtensions: number;
  readonly holdUntil: number;
  /** Age of the last progress in the last report; null before the first. */
  readonly sinceProgressMs: number | null;
  readonly queued: boolean;
  readonly workflowsCompleted: number;
  readonly workflowsFailed: number;
  readonly report: LocalReason | null;
  /** Time of the last question because it is silent; null while it is not. */
  readonly askedAt: number | null;
  /** Time at which the present state of the contact began. */
  readonly contactSince: number;
  /** While the gate catches up: when it was heard first, and the question that is to be answered. */
  readonly metAt: number | null;
  readonly question: Question | null;
  /** A question that has to arrive is on its way, and nothing was heard since. */
  readonly isQuestioned: boolean;
  readonly told: Told | null;
  readonly final: DatacenterFinal | null;
}

export const UNHEARD: DatacenterRecord = {
  run: 'asked',
  decision: 'none',
  contact: 'heard',
  leaderFence: 0,
  managerId: '',
  managerAddrs: {},
  reportSeq: 0,
  lastSeenAt: 0,
  lastProgressAt: 0,
  startedAt: null,
  elapsedMs: 0,
  extensionsMs: 0,
  maxWorkerExtensionMs: 0,
  workersWithExtensions: 0,
  holdUntil: 0,
  sinceProgressMs: null,
  queued: false,
  workflowsCompleted: 0,
  workflowsFailed: 0,
  report: null,
  askedAt: null,
  contactSince: 0,
  metAt: null,
  question: null,
  isQuestioned: false,
  told: null,
  final: null,
};

/** Everything a job says to its gate about itself, with its origin and its figures. */
export type DatacenterMessage =
  | ProgressReported
  | TimeoutReported
  | LeaderTransferred
  | FinalReported
  | StatusCorrected;

/** Events that the gate's job takes and passes on, and those that it sends to the chart itself. */
export type DatacenterEvent = Timed<
  | DatacenterMessage
  | SubmissionAnswered
  | SubmissionDeferred
  | AckReceived
  | StatusFound
  | MessageRefused
  /** Nobody is waited for any more. */
  | { readonly type: 'dispatch.closed' }
  | { readonly type: 'decision.told'; readonly told: Told }
  | { readonly type: 'decision.withdrawn' }
  /** The gate was away, or comes late: it knows only how things were. */
  | { readonly type: 'touch.lost' }
  | { readonly type: 'silence.due' }
  | { readonly type: 'catchUp.due' }
  /** It was asked how things are: so that it arrives under a nonce, or without guarantee under none. */
  | { readonly type: 'datacenter.asked'; readonly nonce: string }
>;

/** Limits of the gate's job that a datacenter goes by. */
export interface GateLimits {
  /** A word so long after the last one comes after one that is missing: reports come more often. */
  readonly missedAfterMs: number;
  readonly silentAfterMs: number;
  readonly allStuckThresholdMs: number;
  /** Time until which it may take the job. */
  readonly dispatchDueAt: number;
  /** The gate had lost its data, and takes the targets to run the job. */
  readonly isRebuilt: boolean;
  /** Characters of results that the record has room for. */
  readonly roomCharacters: number;
}

/** Its own states are those before the event. */
export type DatacenterContext = DatacenterRecord & { readonly limits: GateLimits };

export type Args = { readonly context: DatacenterContext; readonly event: DatacenterEvent };

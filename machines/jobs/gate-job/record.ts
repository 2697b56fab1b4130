/**
 * What a gate's job keeps: one entry per datacenter, the decision that stands, and the outcome.
 *
 * Everything here is in the actor's record, so it is small: the workflows of a submission are kept
 * by `submission-page` until they are sent, results only as far as they fit.
 */

import type { Born } from '../../../runtime/machine.ts';
import type { JobTerms } from '../messages/client.ts';
import type { DecisionEpoch } from '../messages/fields.ts';
import type { GateJobRebuilt, WorkflowResultEntry } from '../messages/gate.ts';
import type { GateRules } from '../rules.ts';
import type { GateReason, LocalReason, Outcome, Reason } from '../words.ts';

/** A job that was submitted at the gate. */
export interface GateJobSubmission {
  readonly jobId: string;
  readonly gateId: string;
  /** The fence of the gate's place. */
  readonly gateBoot: number;
  readonly terms: JobTerms;
  readonly targetDatacenters: readonly string[];
  /** How long ago the first page of the submission came. */
  readonly submittedElapsedMs?: number;
  /** Of the submission's body: the same id with another one is a conflict. */
  readonly digest: string;
  readonly rules: GateRules;
  readonly workflowsTotal: number;
  /** How many `submission-page` actors hold the workflows. */
  readonly pages: number;
}

export type GateJobInput = GateJobSubmission | GateJobRebuilt;

/**
 * How far a datacenter is: `asked` to take the job, has it (`running`, `reported`), has ended it
 * (`final`), did not want it (`refused`), or may have taken it when it was too late (`late`).
 */
export type DatacenterPhase = 'asked' | 'running' | 'reported' | 'final' | 'refused' | 'late';

/**
 * What became of the decision that a datacenter was sent. `contradicted`: send it anew; `deferred`:
 * send it anew once the datacenter is heard again; `ended`: its final is on the way; `gone`: it
 * does not know the job and will never confirm.
 */
export type ToldAnswer = 'sent' | 'accepted' | 'contradicted' | 'deferred' | 'ended' | 'gone';

export interface Told {
  readonly epoch: DecisionEpoch;
  /** The fence that was echoed. */
  readonly leaderFence: number;
  readonly answer: ToldAnswer;
}

export interface DatacenterFinal {
  readonly status: Outcome;
  readonly reason: Reason | null;
  readonly localReason: LocalReason | null;
  readonly gateReason: GateReason | null;
  /** By the gate's clock. */
  readonly endedAt: number;
  readonly results: readonly WorkflowResultEntry[];
  readonly resultsOmitted: boolean;
}

export interface DatacenterRecord {
  readonly phase: DatacenterPhase;
  /** 0 before anything was heard. */
  readonly leaderFence: number;
  readonly managerId: string;
  readonly reportSeq: number;
  /** Any valid message. */
  readonly lastSeenAt: number;
  readonly lastProgressAt: number;
  /** The job's own clock there, when it last gave figures: later ones are newer. */
  readonly elapsedMs: number;
  readonly extensionsMs: number;
  readonly maxWorkerExtensionMs: number;
  readonly workersWithExtensions: number;
  readonly holdUntil: number;
  /** Of the last report; null before the first. */
  readonly sinceProgressMs: number | null;
  readonly queued: boolean;
  readonly workflowsCompleted: number;
  readonly workflowsFailed: number;
  readonly report: LocalReason | null;
  /** When it was last asked because it is silent; null while it is not. */
  readonly askedAt: number | null;
  readonly told: Told | null;
  readonly final: DatacenterFinal | null;
}

export type Datacenters = Readonly<Record<string, DatacenterRecord>>;

export type Decision = {
  readonly at: number;
  /** Of the newest issue. */
  readonly epoch: DecisionEpoch;
} & (
  | { readonly kind: 'timeout'; readonly reason: GateReason; readonly detail: string }
  | { readonly kind: 'cancel' }
);

/** Results of one datacenter, as they were when the outcome was published. */
export interface DatacenterResults {
  readonly datacenter: string;
  /** The datacenter did not complete the job. */
  readonly isPartial: boolean;
  /** They did not fit; the datacenter has them. */
  readonly isOmitted: boolean;
  readonly entries: readonly WorkflowResultEntry[];
}

export interface GateOutcome {
  readonly status: Outcome;
  readonly reason: Reason | null;
  readonly at: number;
  /** Datacenters whose end had to be presumed. */
  readonly unconfirmed: readonly string[];
  readonly results: readonly DatacenterResults[];
}

export interface GateJobContext {
  readonly jobId: string;
  readonly gateId: string;
  /** The fence of the gate's place that this actor took last. */
  readonly fence: number;
  /** First number of every epoch: the fence, or above it when a datacenter knew a higher one. */
  readonly gateBoot: number;
  /** Second number of the last epoch. */
  readonly counter: number;
  readonly terms: JobTerms;
  readonly digest: string;
  /** null until the program has given a rebuilt job its rules. */
  readonly rules: GateRules | null;
  readonly workflowsTotal: number;
  /** `submission-page` actors that are still needed. */
  readonly pages: number;
  readonly isRebuilt: boolean;
  readonly bornAt: number;
  readonly submittedAt: number;
  readonly datacenters: Datacenters;
  readonly decision: Decision | null;
  readonly outcome: GateOutcome | null;
  /** What `overallLimit` and `silenceLimit` are armed for. */
  readonly overallDueAt: number;
  readonly silenceDueAt: number;
  /** Whom a recovering gate waits for. */
  readonly unheard: readonly string[];
  /** Timeouts declared, and how many of them were taken back. */
  readonly declared: number;
  readonly withdrawn: number;
  /** What would have been declared, where timeouts are only looked at. */
  readonly shadowed: { readonly reason: GateReason; readonly at: number } | null;
  readonly lateEvents: ReadonlyArray<{ readonly at: number; readonly what: string }>;
}

/** A record that has its rules: every state but the first moments of a rebuilt job. */
export type RuledContext = GateJobContext & { readonly rules: GateRules };

const UNHEARD: DatacenterRecord = {
  phase: 'asked',
  leaderFence: 0,
  managerId: '',
  reportSeq: 0,
  lastSeenAt: 0,
  lastProgressAt: 0,
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
  told: null,
  final: null,
};

const UNDECIDED = {
  decision: null,
  outcome: null,
  overallDueAt: 0,
  silenceDueAt: 0,
  declared: 0,
  withdrawn: 0,
  shadowed: null,
  lateEvents: [],
} as const;

export function bornGateJob(input: Born<GateJobInput>): GateJobContext {
  const { at } = input;
  if ('rebuiltFrom' in input) return rebuilt(input, at);
  const { targetDatacenters, submittedElapsedMs = 0, gateBoot, ...kept } = input;
  return {
    ...kept,
    ...UNDECIDED,
    fence: gateBoot,
    gateBoot,
    counter: 0,
    isRebuilt: false,
    bornAt: at,
    submittedAt: at - submittedElapsedMs,
    datacenters: oneEach(targetDatacenters, { ...UNHEARD, lastSeenAt: at, lastProgressAt: at }),
    unheard: [],
  };
}

/** All that is known is what one datacenter told; the others are taken to run the job and are asked. */
function rebuilt({ jobId, gateId, rebuiltFrom }: GateJobRebuilt, at: number): GateJobContext {
  const { datacenter, figures, terms, digest, workflowsTotal, highestDecisionEpoch } = rebuiltFrom;
  const targets = [...new Set([...figures.targetDatacenters, datacenter])];
  const running = { ...UNHEARD, phase: 'running', lastSeenAt: at, lastProgressAt: at } as const;
  return {
    ...UNDECIDED,
    jobId,
    gateId,
    fence: 0,
    gateBoot: highestDecisionEpoch[0],
    counter: highestDecisionEpoch[1],
    terms,
    digest,
    rules: null,
    workflowsTotal,
    pages: 0,
    isRebuilt: true,
    bornAt: at,
    submittedAt: at - figures.elapsedMs,
    datacenters: oneEach(targets, running),
    unheard: targets,
  };
}

function oneEach(names: readonly string[], record: DatacenterRecord): Datacenters {
  return Object.fromEntries(names.map((name) => [name, record]));
}

/** The named datacenters that have the job and have not ended it. */
export function running(datacenters: Datacenters): ReadonlyArray<[string, DatacenterRecord]> {
  return Object.entries(datacenters).filter(([, { phase }]) => isRunning(phase));
}

export function isRunning(phase: DatacenterPhase): boolean {
  return phase === 'running' || phase === 'reported';
}

/** The datacenters that took the job in time. */
export function targets(datacenters: Datacenters): ReadonlyArray<[string, DatacenterRecord]> {
  return Object.entries(datacenters).filter(
    ([, { phase }]) => isRunning(phase) || phase === 'final',
  );
}

/** Undefined for a name that is none of the job's datacenters, whatever else objects know by it. */
export function recordOf(datacenters: Datacenters, name: string): DatacenterRecord | undefined {
  return Object.hasOwn(datacenters, name) ? datacenters[name] : undefined;
}

export function withDatacenter(
  datacenters: Datacenters,
  name: string,
  changes: Partial<DatacenterRecord>,
): Datacenters {
  const known = recordOf(datacenters, name);
  return known === undefined ? datacenters : { ...datacenters, [name]: { ...known, ...changes } };
}

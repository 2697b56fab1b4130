/**
 * Record of a gate's job: one entry per datacenter, the decision that stands, and the outcome.
 *
 * Everything here is in the actor's record, so it is small: the workflows of a submission are kept
 * by `submission-page` until they are sent, results only as far as they fit.
 */

import { knob } from '../../../runtime/base/knob.ts';
import type { Spawned } from '../../../runtime/machine.ts';
import {
  type DatacenterEvent,
  type DatacenterRecord,
  type GateLimits,
  UNHEARD,
} from '../datacenter/context.ts';
import { charactersOf } from '../datacenter/steps.ts';
import { chartOf, isUnderWay, stepped } from '../datacenter.ts';
import type { JobTerms } from '../messages/client.ts';
import type { DecisionEpoch } from '../messages/fields.ts';
import type { GateJobRebuilt, WorkflowResultEntry } from '../messages/gate.ts';
import type { GateRules } from '../rules.ts';
import type { GateReason, Outcome, Reason } from '../words.ts';

/** A job that was submitted at the gate. */
export interface GateJobSubmission {
  readonly jobId: string;
  readonly gateId: string;
  /** Owner of the job: datacenters count the jobs of a client together. */
  readonly client?: string;
  /** The fence of the gate's place. */
  readonly gateBoot: number;
  readonly terms: JobTerms;
  readonly targetDatacenters: readonly string[];
  /** Age of the first part of the submission. */
  readonly submittedElapsedMs?: number;
  /** Digest of the submission's body: the same id with another one is a conflict. */
  readonly digest: string;
  readonly rules: GateRules;
  readonly workflowsTotal: number;
  /** Number of `submission-page` actors that hold the workflows. */
  readonly pages: number;
}

export type GateJobInput = GateJobSubmission | GateJobRebuilt;

export type Datacenters = Readonly<Record<string, DatacenterRecord>>;

export type Decision = {
  readonly at: number;
  /** Epoch of the newest issue. */
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
  /** Owner of the job; not known of one that was brought back to a gate that had lost it. */
  readonly client?: string;
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
  /** Time at which the gate that had been away began to ask those again that had not answered. */
  readonly askedSince?: number;
  readonly datacenters: Datacenters;
  readonly decision: Decision | null;
  readonly outcome: GateOutcome | null;
  /** Timeouts declared, and how many of them were taken back. */
  readonly declared: number;
  readonly withdrawn: number;
  /** Timeout that would have been declared, where timeouts are only looked at. */
  readonly shadowed: { readonly reason: GateReason; readonly at: number } | null;
  readonly lateEvents: ReadonlyArray<{ readonly at: number; readonly what: string }>;
}

/** A record that has its rules: every state but the first moments of a rebuilt job. */
export type RuledContext = GateJobContext & { readonly rules: GateRules };

const UNDECIDED = {
  decision: null,
  outcome: null,
  declared: 0,
  withdrawn: 0,
  shadowed: null,
  lateEvents: [],
} as const;

export function initialGateJob(input: Spawned<GateJobInput>): GateJobContext {
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
  };
}

/** All that is known is what one datacenter told; the others are taken to run the job and are asked. */
function rebuilt({ jobId, gateId, rebuiltFrom }: GateJobRebuilt, at: number): GateJobContext {
  const { datacenter, figures, terms, digest, workflowsTotal, highestDecisionEpoch } = rebuiltFrom;
  const targets = [...new Set([...figures.targetDatacenters, datacenter])];
  const since = { lastSeenAt: at, lastProgressAt: at, contactSince: at };
  const running = { ...UNHEARD, run: 'running', contact: 'catchingUp', ...since } as const;
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
  };
}

function oneEach(names: readonly string[], record: DatacenterRecord): Datacenters {
  return Object.fromEntries(names.map((name) => [name, record]));
}

/** The named datacenters that have the job and have not ended it. */
export function running(datacenters: Datacenters): ReadonlyArray<[string, DatacenterRecord]> {
  return Object.entries(datacenters).filter(([, { run }]) => isUnderWay(run));
}

/** The datacenters that took the job in time. */
export function targets(datacenters: Datacenters): ReadonlyArray<[string, DatacenterRecord]> {
  return Object.entries(datacenters).filter(([, { run }]) => isUnderWay(run) || run === 'final');
}

/** Undefined for a name that is none of the job's datacenters, whatever else objects know by it. */
export function recordOf(datacenters: Datacenters, name: string): DatacenterRecord | undefined {
  return Object.hasOwn(datacenters, name) ? datacenters[name] : undefined;
}

/** The record after an event of a datacenter; one that is none of the job's changes nothing. */
export function withStep(
  context: GateJobContext,
  name: string,
  event: DatacenterEvent,
): Pick<GateJobContext, 'datacenters'> {
  const { datacenters } = context;
  const known = recordOf(datacenters, name);
  if (known === undefined) return { datacenters };
  return { datacenters: { ...datacenters, [name]: stepped(known, event, limitsOf(context)) } };
}

/** The charts of its datacenters, by name. */
export function chartsOf(context: GateJobContext) {
  const limits = limitsOf(context);
  return Object.fromEntries(
    Object.entries(context.datacenters).map(([name, record]) => [name, chartOf(record, limits)]),
  );
}

/** The same of several, each by an event of its own. */
export function withSteps(
  context: GateJobContext,
  names: readonly string[],
  eventFor: (name: string) => DatacenterEvent,
): Pick<GateJobContext, 'datacenters'> {
  let after: Pick<GateJobContext, 'datacenters'> = { datacenters: context.datacenters };
  for (const name of names) after = withStep({ ...context, ...after }, name, eventFor(name));
  return after;
}

/** Characters of results that a record keeps; what does not fit stays with its datacenter. */
const RESULTS_CHARACTERS_MAX = knob('gateResultsCharactersMax', 48 * 1024);

/**
 * Share of the interval of reports after which one of them is missing, however late the next one may
 * be.
 */
const REPORT_MISSED = 1.5;

const NEVER = Number.MAX_SAFE_INTEGER;

function limitsOf(context: GateJobContext): GateLimits {
  const { rules, isRebuilt, datacenters, outcome } = context;
  // Nothing more is kept once the outcome is published.
  let roomCharacters = outcome === null ? RESULTS_CHARACTERS_MAX.value : 0;
  for (const { final } of Object.values(datacenters))
    if (final !== null) roomCharacters -= charactersOf(final);
  const {
    reportIntervalMs = NEVER,
    silentAfterMs = NEVER,
    allStuckThresholdMs = NEVER,
  } = rules ?? {};
  const missedAfterMs = REPORT_MISSED * reportIntervalMs;
  const dispatched = { isRebuilt, dispatchDueAt: dispatchDueAt(context) };
  return { ...dispatched, roomCharacters, missedAfterMs, silentAfterMs, allStuckThresholdMs };
}

/** Time until which a datacenter may take the job: one that is asked again has the whole limit from then on. */
export function dispatchDueAt({
  bornAt,
  submittedAt,
  askedSince = 0,
  terms,
  rules,
  datacenters,
}: GateJobContext): number {
  const limitMs = rules?.gateDispatchLimitMs ?? 0;
  const fullUntil = Object.values(datacenters).map((one) => one.fullUntil ?? 0);
  const again = Math.max(askedSince, ...fullUntil);
  return Math.max(bornAt + limitMs, Math.min(again + limitMs, submittedAt + terms.timeoutMs));
}

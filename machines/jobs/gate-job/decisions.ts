/**
 * Decisions of a gate about a job: which one it makes, which datacenters it sends it to, and what it publishes.
 *
 * A decision goes to every datacenter that still runs the job, under an epoch that rises with each
 * issue and with the fence that the gate last knew of that datacenter. A datacenter that refuses
 * because that fence has moved is told again; whether a decision still stands then is asked here too.
 */

import { knob } from '../../../runtime/base/knob.ts';
import type { DatacenterRecord } from '../datacenter/context.ts';
import { isUnderWay } from '../datacenter.ts';
import type { DecisionEpoch } from '../messages/fields.ts';
import type { CancelRequested, TimeoutDeclared } from '../messages/gate.ts';
import type { GateReason } from '../words.ts';
import {
  type DatacenterResults,
  type Datacenters,
  type GateJobContext,
  type RuledContext,
  recordOf,
  running,
  targets,
  withSteps,
} from './context.ts';
import { type GlobalEnd, globalOutcome, type LocalEnd, NO_DATACENTER } from './global-outcome.ts';
import { dispatchClosed } from './joining.ts';
import { detailOf, isAnyDue } from './rules.ts';

/** The last ones are kept. */
const LATE_EVENTS_MAX = knob('gateLateEventsMax', 16);

/** A timeout by the rule of that reason; it is told to nobody yet. */
export function declared(
  context: RuledContext,
  reason: GateReason,
  at: number,
): Partial<GateJobContext> {
  const epoch = nextEpoch(context);
  const detail = detailOf(reason, context, at);
  return {
    decision: { kind: 'timeout', reason, detail, at, epoch },
    counter: epoch[1],
    declared: context.declared + 1,
  };
}

export function cancelled(context: GateJobContext, at: number): Partial<GateJobContext> {
  const epoch = nextEpoch(context);
  return { decision: { kind: 'cancel', at, epoch }, counter: epoch[1] };
}

/** The decision as it has to be sent again: under an epoch that nobody has refused. */
export function issuedAgain(context: GateJobContext): Partial<GateJobContext> {
  const { decision } = context;
  if (decision === null) return {};
  const epoch = nextEpoch(context);
  return { decision: { ...decision, epoch }, counter: epoch[1] };
}

/** Nobody has to obey any more; what is still on its way may be obeyed all the same. */
export function withdrawn(context: GateJobContext, at: number): Partial<GateJobContext> {
  const names = runningNames(context);
  return {
    decision: null,
    withdrawn: context.withdrawn + 1,
    ...withSteps(context, names, () => ({ type: 'decision.withdrawn', at })),
  };
}

/** True while a timeout may not be taken back: somebody has ended by it, or a rule is due. */
export function doesStand(context: RuledContext, at: number): boolean {
  const { decision, datacenters } = context;
  if (decision?.kind !== 'timeout') return true;
  const hasEnded = targets(datacenters).some(
    ([, record]) => record.decision === 'accepted' || record.final?.status === 'timedOut',
  );
  return hasEnded || isAnyDue(context, at);
}

/** Running datacenters that the decision has not been sent to. */
export function untold({ datacenters }: GateJobContext): readonly string[] {
  return namesOf(datacenters, ({ run, decision }) => isUnderWay(run) && decision === 'none');
}

/** Running datacenters that refused the decision as it was sent, or would. */
export function contradicting({ datacenters }: GateJobContext): readonly string[] {
  return namesOf(
    datacenters,
    ({ run, decision }) => isUnderWay(run) && decision === 'contradicted',
  );
}

/** Running datacenters of which it is not known that they obeyed, or that there is nobody to obey. */
export function unacknowledged({ datacenters }: GateJobContext): readonly string[] {
  return namesOf(
    datacenters,
    ({ run, decision }) => isUnderWay(run) && decision !== 'accepted' && decision !== 'gone',
  );
}

/** Datacenters that may have taken the job too late and have not been told, or not well, to drop it. */
export function lateUntold({ datacenters }: GateJobContext): readonly string[] {
  return namesOf(
    datacenters,
    ({ run, decision, final }) =>
      run === 'late' && final === null && (decision === 'none' || decision === 'contradicted'),
  );
}

/** The record after these datacenters were sent what `order` says. */
export function told(
  context: GateJobContext,
  names: readonly string[],
  at: number,
): Partial<GateJobContext> {
  let { counter } = context;
  const toldOf = (name: string) => {
    const record = recordOf(context.datacenters, name);
    const epoch = epochOf(context, record);
    counter = Math.max(counter, epoch[1]);
    return { epoch, leaderFence: fenceOf(record) };
  };
  const after = withSteps(context, names, (name) => ({
    type: 'decision.told',
    told: toldOf(name),
    at,
  }));
  return { ...after, counter };
}

/** Message to a datacenter: the timeout, or that it has to drop the job. */
export function order(
  context: GateJobContext,
  datacenter: string,
  at: number,
): TimeoutDeclared | CancelRequested {
  const { jobId, decision, datacenters, submittedAt, terms } = context;
  const record = recordOf(datacenters, datacenter);
  const leaderFence = fenceOf(record);
  const decisionEpoch = epochOf(context, record);
  if (decision?.kind !== 'timeout' || record?.run === 'late')
    return { type: 'cancel.requested', jobId, datacenter, decisionEpoch, leaderFence };
  return {
    type: 'timeout.declared',
    jobId,
    datacenter,
    reason: decision.reason,
    detail: decision.detail,
    decisionEpoch,
    leaderFence,
    sinceDeclaredMs: at - decision.at,
    elapsedMs: at - submittedAt,
    timeoutMs: terms.timeoutMs,
  };
}

/**
 * Epoch of a message with a decision. A datacenter that is late is told under a number of its own: that of the
 * decision may be older than the gate's last takeover, and a datacenter that has heard of the takeover
 * refuses it each time.
 */
function epochOf(context: GateJobContext, record: DatacenterRecord | undefined): DecisionEpoch {
  const { decision } = context;
  return decision === null || record?.run === 'late' ? nextEpoch(context) : decision.epoch;
}

function nextEpoch({ gateBoot, counter }: GateJobContext): DecisionEpoch {
  return [gateBoot, counter + 1];
}

/** A job begins under fence 1. */
function fenceOf(record: DatacenterRecord | undefined): number {
  return Math.max(1, record?.leaderFence ?? 1);
}

/** Publishes how the job ended. Missing ends are presumed; nothing that comes later changes it. */
export function published(context: GateJobContext, at: number): Partial<GateJobContext> {
  const took = targets(context.datacenters);
  const unconfirmed = took.filter(([, { final }]) => final === null).map(([name]) => name);
  const ends = took.map(([, { final }]) => final ?? presumedEnd(context));
  const results = took
    .filter(([, { final }]) => final !== null)
    .map(([name, record]) => resultsOf(name, record));
  return {
    outcome: { ...outcomeOf(context, ends), at, unconfirmed, results },
    datacenters: closed(dispatchClosed(context, at).datacenters),
  };
}

function outcomeOf({ decision }: GateJobContext, ends: readonly LocalEnd[]): GlobalEnd {
  if (ends.length > 0) return globalOutcome(ends);
  return decision?.kind === 'cancel' ? { status: 'cancelled', reason: null } : NO_DATACENTER;
}

function presumedEnd({ decision }: GateJobContext): LocalEnd {
  return decision?.kind === 'timeout'
    ? { status: 'timedOut', reason: 'global', gateReason: decision.reason }
    : { status: 'cancelled', reason: null, gateReason: null };
}

function resultsOf(datacenter: string, { final }: DatacenterRecord): DatacenterResults {
  return {
    datacenter,
    isPartial: final?.status !== 'completed',
    isOmitted: final?.resultsOmitted ?? false,
    entries: final?.results ?? [],
  };
}

/** The results are in the outcome now. */
function closed(datacenters: Datacenters): Datacenters {
  return Object.fromEntries(
    Object.entries(datacenters).map(([name, record]) => [
      name,
      {
        ...record,
        final: record.final === null ? null : { ...record.final, results: [] },
      },
    ]),
  );
}

/** True when no datacenter that took the job in time has still to confirm its end. */
export function isConfirmed({ datacenters }: GateJobContext): boolean {
  return targets(datacenters).every(
    ([, { final, decision }]) => final !== null || decision === 'gone',
  );
}

/** True when every datacenter that may have been late has answered that it drops the job, or has none. */
export function isLateSettled({ datacenters }: GateJobContext): boolean {
  return Object.values(datacenters).every(
    ({ run, final, decision }) =>
      run !== 'late' || final !== null || decision === 'accepted' || decision === 'gone',
  );
}

export function hasLate({ datacenters }: GateJobContext): boolean {
  return namesOf(datacenters, ({ run }) => run === 'late').length > 0;
}

export function withLateEvent(
  { lateEvents }: GateJobContext,
  what: string,
  at: number,
): Partial<GateJobContext> {
  return { lateEvents: [...lateEvents, { at, what }].slice(-LATE_EVENTS_MAX.value) };
}

function namesOf(
  datacenters: Datacenters,
  isChosen: (record: DatacenterRecord) => boolean,
): readonly string[] {
  return Object.entries(datacenters)
    .filter(([, record]) => isChosen(record))
    .map(([name]) => name);
}

/** The running datacenters, by name. */
export function runningNames({ datacenters }: GateJobContext): readonly string[] {
  return running(datacenters).map(([name]) => name);
}

/**
 * What a gate decides about a job, whom it has to tell, and what it publishes in the end.
 *
 * A decision goes to every datacenter that still runs the job, under an epoch that rises with each
 * issue and with the fence that the gate last knew of that datacenter. Whoever refuses because
 * that fence has moved is told anew; whether a decision still stands then is asked here too.
 */

import { knob } from '../../../runtime/knob.ts';
import type { DecisionEpoch } from '../messages/fields.ts';
import type { CancelRequested, TimeoutDeclared } from '../messages/gate.ts';
import { type GlobalEnd, globalOutcome, type LocalEnd, NO_DATACENTER } from './global-outcome.ts';
import {
  type DatacenterRecord,
  type DatacenterResults,
  type Datacenters,
  type GateJobContext,
  isRunning,
  type RuledContext,
  recordOf,
  running,
  type Told,
  targets,
  withDatacenter,
} from './record.ts';
import { detailOf, dueReason } from './rules.ts';

/** The last ones are kept. */
const LATE_EVENTS_MAX = knob('gateLateEventsMax', 16);

/** A timeout by the first rule that is due; it is told to nobody yet. */
export function declared(context: RuledContext, at: number): Partial<GateJobContext> {
  const reason = dueReason(context, at);
  if (reason === null) return {};
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
export function withdrawn(context: GateJobContext): Partial<GateJobContext> {
  const untold = Object.entries(context.datacenters).map(
    ([name, record]) =>
      [name, isRunning(record.phase) ? { ...record, told: null } : record] as const,
  );
  return {
    decision: null,
    withdrawn: context.withdrawn + 1,
    datacenters: Object.fromEntries(untold),
  };
}

/** True while a timeout may not be taken back: somebody has ended by it, or a rule is due. */
export function doesStand(context: RuledContext, at: number): boolean {
  const { decision, datacenters } = context;
  if (decision?.kind !== 'timeout') return true;
  const hasEnded = targets(datacenters).some(
    ([, { told, final }]) => told?.answer === 'accepted' || final?.status === 'timedOut',
  );
  return hasEnded || dueReason(context, at) !== null;
}

/** Running datacenters that the decision has not been sent to. */
export function untold({ datacenters }: GateJobContext): readonly string[] {
  return namesOf(datacenters, ({ phase, told }) => isRunning(phase) && told === null);
}

/** Running datacenters that refused the decision as it was sent, or would. */
export function contradicting({ datacenters }: GateJobContext): readonly string[] {
  return namesOf(
    datacenters,
    ({ phase, told, leaderFence }) =>
      isRunning(phase) && told !== null && isOutdated(told, leaderFence),
  );
}

/** Running datacenters of which it is not known that they obeyed, or that there is nobody to obey. */
export function unacknowledged({ datacenters }: GateJobContext): readonly string[] {
  return namesOf(
    datacenters,
    ({ phase, told }) =>
      isRunning(phase) && !['accepted', 'ended', 'gone'].includes(told?.answer ?? 'sent'),
  );
}

/** Datacenters that may have taken the job too late and have not been told, or not well, to drop it. */
export function lateUntold({ datacenters }: GateJobContext): readonly string[] {
  return namesOf(
    datacenters,
    ({ phase, told, final, leaderFence }) =>
      phase === 'late' && final === null && (told === null || isOutdated(told, leaderFence)),
  );
}

function isOutdated({ answer, leaderFence }: Told, knownFence: number): boolean {
  return answer === 'contradicted' || (answer === 'sent' && knownFence > leaderFence);
}

/** The record after these datacenters were sent what `order` says. */
export function told(context: GateJobContext, names: readonly string[]): Partial<GateJobContext> {
  let { datacenters, counter } = context;
  for (const name of names) {
    const record = recordOf(datacenters, name);
    const epoch = epochOf(context, record);
    const leaderFence = fenceOf(record);
    datacenters = withDatacenter(datacenters, name, {
      told: { epoch, leaderFence, answer: 'sent' },
    });
    counter = Math.max(counter, epoch[1]);
  }
  return { datacenters, counter };
}

/** What a datacenter is told: the timeout, or that it has to drop the job. */
export function order(
  context: GateJobContext,
  datacenter: string,
  at: number,
): TimeoutDeclared | CancelRequested {
  const { jobId, decision, datacenters, submittedAt, terms } = context;
  const record = recordOf(datacenters, datacenter);
  const leaderFence = fenceOf(record);
  const decisionEpoch = epochOf(context, record);
  if (decision?.kind !== 'timeout' || record?.phase === 'late')
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
 * Late ones are told under a number of their own: that of the decision may be older than the gate's
 * last takeover, and whoever has heard of the takeover refuses it each time.
 */
function epochOf(context: GateJobContext, record: DatacenterRecord | undefined): DecisionEpoch {
  const { decision } = context;
  return decision === null || record?.phase === 'late' ? nextEpoch(context) : decision.epoch;
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
    datacenters: closed(context.datacenters),
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

/** The results are in the outcome now, and whoever takes the job from now on is too late. */
function closed(datacenters: Datacenters): Datacenters {
  return Object.fromEntries(
    Object.entries(datacenters).map(([name, record]) => [
      name,
      {
        ...record,
        phase: record.phase === 'asked' ? 'late' : record.phase,
        final: record.final === null ? null : { ...record.final, results: [] },
      },
    ]),
  );
}

/** True when no datacenter that took the job in time has still to confirm its end. */
export function isConfirmed({ datacenters }: GateJobContext): boolean {
  return targets(datacenters).every(
    ([, { final, told: sent }]) => final !== null || sent?.answer === 'gone',
  );
}

/** True when every datacenter that may have been late has answered that it drops the job, or has none. */
export function isLateSettled({ datacenters }: GateJobContext): boolean {
  return Object.values(datacenters).every(
    ({ phase, final, told: sent }) =>
      phase !== 'late' ||
      final !== null ||
      ['accepted', 'ended', 'gone'].includes(sent?.answer ?? 'sent'),
  );
}

export function hasLate({ datacenters }: GateJobContext): boolean {
  return namesOf(datacenters, ({ phase }) => phase === 'late').length > 0;
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

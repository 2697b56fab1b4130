/**
 * Rules by which a gate ends a job, as pure functions of the states of its datacenters and the moment.
 *
 *   1  isBudgetUsedUp    the time budget and the largest credit of a running datacenter are used up
 *   2  isQuorumMet       enough datacenters reported a timeout
 *   3  isNothingMoving   every running datacenter says that nothing moves
 *
 * Comparisons are strict: at a deadline nothing is due yet. Silence is never lack of progress. What a
 * datacenter has to say with which the gate still catches up may change each of them, so none is due by it.
 */

import { knob } from '../../../runtime/base/knob.ts';
import type { DatacenterRecord } from '../datacenter/context.ts';
import { LATE_MS } from '../datacenter/steps.ts';
import { isUnderWay } from '../datacenter.ts';
import type { GateReason, Quorum } from '../words.ts';
import { type Datacenters, type GateJobContext, type RuledContext, running } from './context.ts';

/** The gate knows how things are there, or that nobody can tell it. */
const isCaughtUp = ({ contact }: DatacenterRecord): boolean => contact !== 'catchingUp';

/** A word that may move every deadline is awaited. */
export function isCatchingUp({ datacenters }: GateJobContext): boolean {
  return !running(datacenters).every(([, record]) => isCaughtUp(record));
}

/** Rule 1. */
export function isBudgetUsedUp(context: GateJobContext, at: number): boolean {
  return running(context.datacenters).length > 0 && at > overallDueAt(context);
}

/** Rule 1's deadline. A datacenter that has ended the job does not carry it any more. */
export function overallDueAt({ submittedAt, terms, datacenters }: GateJobContext): number {
  const records = running(datacenters).map(([, record]) => record);
  const extensionMs = Math.max(0, ...records.map(({ extensionsMs }) => extensionsMs));
  const holdUntil = Math.max(0, ...records.map((record) => record.holdUntil));
  return Math.max(submittedAt + terms.timeoutMs + extensionMs, holdUntil);
}

/**
 * Running datacenters of which the gate knows only how things were when the budget ended: it comes late to
 * that deadline, nobody kept it from deciding, and their words wait at its door.
 */
export function heardBefore(context: GateJobContext, at: number): readonly string[] {
  const dueAt = overallDueAt(context);
  const alive = running(context.datacenters);
  const caughtUpAt = Math.max(...alive.map(([, { contactSince }]) => contactSince));
  if (at <= Math.max(dueAt, caughtUpAt) + LATE_MS) return [];
  return alive
    .filter(([, { contact, contactSince }]) => contact === 'heard' && contactSince <= dueAt)
    .map(([name]) => name);
}

/**
 * Rule 2: the running datacenters and those that have timed out vote; the others have ended otherwise. One
 * with which the gate catches up is a voter without a vote, and may have any credit: what is met so is met
 * whatever it says.
 */
export function isQuorumMet(
  datacenters: Datacenters,
  quorum: Quorum,
  isKnown = isCaughtUp,
): boolean {
  const voters = Object.values(datacenters).filter(({ run, final }) =>
    run === 'final' ? final?.status === 'timedOut' : isUnderWay(run) || run === 'asked',
  );
  if (!voters.some((voter) => isUnderWay(voter.run) && isKnown(voter))) return false;
  const counted = voters.filter((record) => isCounted(record, datacenters, isKnown)).length;
  switch (quorum) {
    case 'any':
      return counted >= 1;
    case 'majority':
      return 2 * counted > voters.length;
    case 'all':
      return counted === voters.length;
  }
}

function isCounted(
  record: DatacenterRecord,
  datacenters: Datacenters,
  isKnown: typeof isCaughtUp,
): boolean {
  if (record.run === 'final') return true;
  return record.run === 'reported' && isKnown(record) && !isDeferred(record, datacenters, isKnown);
}

/** An overall report waits for rule 1 while another running datacenter has more credit than the reporter. */
function isDeferred(
  reporter: DatacenterRecord,
  datacenters: Datacenters,
  isKnown: typeof isCaughtUp,
): boolean {
  if (reporter.report !== 'overall') return false;
  return running(datacenters).some(
    ([, other]) =>
      other !== reporter && (!isKnown(other) || other.extensionsMs > reporter.extensionsMs),
  );
}

/** Rule 3. A datacenter that has not reported yet, is not heard or only queues speaks against it. */
export function isNothingMoving(
  { datacenters, rules }: RuledContext,
  isKnown = isCaughtUp,
): boolean {
  const awaited = Object.values(datacenters).filter(
    ({ run }) => isUnderWay(run) || run === 'asked',
  );
  return (
    awaited.some(({ run }) => isUnderWay(run)) &&
    awaited.every(
      (record) =>
        record.sinceProgressMs !== null &&
        record.sinceProgressMs > rules.allStuckThresholdMs &&
        !record.queued &&
        record.contact !== 'silent' &&
        isKnown(record),
    )
  );
}

/** Some rule is due by what is known, also of datacenters that may have more to say. */
export function isAnyDue(context: RuledContext, at: number): boolean {
  const { datacenters, rules } = context;
  const isKnown = (): boolean => true;
  return (
    isBudgetUsedUp(context, at) ||
    isQuorumMet(datacenters, rules.quorum, isKnown) ||
    isNothingMoving(context, isKnown)
  );
}

/** Time at which a datacenter falls silent, or is asked again because it is. */
const silentAt = ({ lastSeenAt, askedAt }: DatacenterRecord, { rules }: RuledContext): number =>
  (askedAt ?? lastSeenAt) + rules.silentAfterMs;

/** Time at which the next datacenter falls silent, or a silent one is asked again; null when none can. */
export function silenceDueAt(context: RuledContext): number | null {
  const moments = running(context.datacenters)
    .filter(([, record]) => isCaughtUp(record))
    .map(([, record]) => silentAt(record, context));
  return moments.length === 0 ? null : Math.min(...moments);
}

/** Running datacenters that have fallen silent, or are to be asked again. */
export function fallenSilent(context: RuledContext, at: number): readonly string[] {
  return running(context.datacenters)
    .filter(([, record]) => isCaughtUp(record) && at > silentAt(record, context))
    .map(([name]) => name);
}

/** Time at which a datacenter is waited for no longer; two of its reports would have come. */
const caughtUpAt = ({ contactSince, metAt }: DatacenterRecord, { rules }: RuledContext): number =>
  (metAt ?? contactSince) + 2 * rules.reportIntervalMs;

/** Time at which the next datacenter is waited for no longer; null when none is waited for. */
export function catchUpDueAt(context: RuledContext): number | null {
  const moments = catchingUp(context).map(([, record]) => caughtUpAt(record, context));
  return moments.length === 0 ? null : Math.min(...moments);
}

/** Running datacenters that were waited for long enough. */
export function missing(context: RuledContext, at: number): readonly string[] {
  return catchingUp(context)
    .filter(([, record]) => at > caughtUpAt(record, context))
    .map(([name]) => name);
}

/** Running datacenters that have still to be asked how things are; none once there is nothing to decide. */
export function unasked(context: GateJobContext): readonly string[] {
  if (context.rules === null || context.outcome !== null) return [];
  return catchingUp(context)
    .filter(([, { question }]) => question === null)
    .map(([name]) => name);
}

const catchingUp = ({ datacenters }: GateJobContext) =>
  running(datacenters).filter(([, record]) => !isCaughtUp(record));

/** Names that a detail tells at most. */
const NAMES_MAX = knob('detailNamesMax', 10);

/** For people: what the rule saw. */
export function detailOf(reason: GateReason, context: RuledContext, at: number): string {
  const { datacenters, submittedAt, terms } = context;
  const alive = running(datacenters);
  const names = (chosen: typeof alive) =>
    chosen
      .slice(0, NAMES_MAX.value)
      .map(([name]) => name)
      .join(', ');
  switch (reason) {
    case 'overall': {
      const extensionMs = Math.max(0, ...alive.map(([, record]) => record.extensionsMs));
      return `${at - submittedAt} ms of ${terms.timeoutMs} ms and ${extensionMs} ms of extensions`;
    }
    case 'datacenterTimeout':
      return `timed out: ${names(
        Object.entries(datacenters).filter(
          ([, { run, final }]) => run === 'reported' || final?.status === 'timedOut',
        ),
      )}`;
    case 'allDatacentersStuck':
      return `no progress for more than ${context.rules.allStuckThresholdMs} ms: ${names(alive)}`;
  }
}

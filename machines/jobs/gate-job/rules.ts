/**
 * When a gate ends a job, as pure functions of its record and the moment.
 *
 *   1  overall               the time budget and the largest credit of a running datacenter are used up
 *   2  datacenterTimeout     enough datacenters reported a timeout
 *   3  allDatacentersStuck   every running datacenter says that nothing moves
 *
 * Comparisons are strict: at a deadline nothing is due yet. Silence is never lack of progress.
 */

import { knob } from '../../../runtime/knob.ts';
import type { GateReason, Quorum } from '../words.ts';
import {
  type DatacenterRecord,
  type Datacenters,
  type GateJobContext,
  isRunning,
  type RuledContext,
  running,
} from './record.ts';

/** The first rule that is due. */
export function dueReason(context: RuledContext, at: number): GateReason | null {
  const { datacenters, rules } = context;
  if (running(datacenters).length === 0) return null;
  if (at > overallDueAt(context)) return 'overall';
  if (isQuorumMet(datacenters, rules.quorum)) return 'datacenterTimeout';
  return isNothingMoving(context, at) ? 'allDatacentersStuck' : null;
}

/** Rule 1's deadline. A datacenter that has ended the job does not carry it any more. */
export function overallDueAt({ submittedAt, terms, datacenters }: GateJobContext): number {
  const records = running(datacenters).map(([, record]) => record);
  const extensionMs = Math.max(0, ...records.map(({ extensionsMs }) => extensionsMs));
  const holdUntil = Math.max(0, ...records.map((record) => record.holdUntil));
  return Math.max(submittedAt + terms.timeoutMs + extensionMs, holdUntil);
}

/** Rule 2: the running datacenters and those that have timed out vote; the others have ended otherwise. */
export function isQuorumMet(datacenters: Datacenters, quorum: Quorum): boolean {
  const records = Object.values(datacenters);
  const voters = records.filter(({ phase, final }) =>
    phase === 'final' ? final?.status === 'timedOut' : isRunning(phase) || phase === 'asked',
  );
  if (!voters.some(({ phase }) => isRunning(phase))) return false;
  const counted = voters.filter((record) => isCounted(record, datacenters)).length;
  switch (quorum) {
    case 'any':
      return counted >= 1;
    case 'majority':
      return 2 * counted > voters.length;
    case 'all':
      return counted === voters.length;
  }
}

function isCounted(record: DatacenterRecord, datacenters: Datacenters): boolean {
  if (record.phase === 'final') return true;
  return record.phase === 'reported' && !isDeferred(record, datacenters);
}

/** An overall report waits for rule 1 while another running datacenter has more credit than the reporter. */
function isDeferred(reporter: DatacenterRecord, datacenters: Datacenters): boolean {
  if (reporter.report !== 'overall') return false;
  return running(datacenters).some(
    ([, other]) => other !== reporter && other.extensionsMs > reporter.extensionsMs,
  );
}

/** Rule 3. Whoever has not reported yet, is silent or only queues speaks against it. */
function isNothingMoving({ datacenters, rules }: RuledContext, at: number): boolean {
  const awaited = Object.values(datacenters).filter(
    ({ phase }) => isRunning(phase) || phase === 'asked',
  );
  return awaited.every(
    ({ sinceProgressMs, queued, lastSeenAt }) =>
      sinceProgressMs !== null &&
      sinceProgressMs > rules.allStuckThresholdMs &&
      !queued &&
      !isSilent(lastSeenAt, at, rules.silentAfterMs),
  );
}

export function isSilent(lastSeenAt: number, at: number, silentAfterMs: number): boolean {
  return at - lastSeenAt > silentAfterMs;
}

/** When the next datacenter falls silent, or a silent one is asked again; null when none is running. */
export function silenceDueAt({ datacenters, rules }: RuledContext): number | null {
  const moments = running(datacenters).map(
    ([, { lastSeenAt, askedAt }]) => (askedAt ?? lastSeenAt) + rules.silentAfterMs,
  );
  return moments.length === 0 ? null : Math.min(...moments);
}

/** Running datacenters that are to be asked now because nothing is heard of them. */
export function toBeAsked({ datacenters, rules }: RuledContext, at: number): readonly string[] {
  return running(datacenters)
    .filter(([, { lastSeenAt, askedAt }]) =>
      isSilent(askedAt ?? lastSeenAt, at, rules.silentAfterMs),
    )
    .map(([name]) => name);
}

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
          ([, { phase, final }]) => phase === 'reported' || final?.status === 'timedOut',
        ),
      )}`;
    case 'allDatacentersStuck':
      return `no progress for more than ${context.rules.allStuckThresholdMs} ms: ${names(alive)}`;
  }
}

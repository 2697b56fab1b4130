/**
 * What a gate must know of the datacenters of a job, counted from the messages that it took and the
 * configuration, and not read from its record: deadlines, holds, credit, reports, silence.
 *
 * Written from the specification. Where turns were not seen it goes on from the record behind them.
 */

import type { DatacenterMessage } from '../../machines/jobs/gate-job/taking.ts';
import type {
  AckReceived,
  StatusFound,
  SubmissionAnswered,
} from '../../machines/jobs/messages/gate.ts';
import type { JobsFacts } from '../jobs/facts.ts';
import type { GateJobContext, GateTurn } from './reading-gate.ts';

/** `out`: it takes no part, because it did not take the job, or too late. */
export type HeardPhase = 'asked' | 'running' | 'reported' | 'final' | 'out';

export interface HeardDatacenter {
  phase: HeardPhase;
  leaderFence: number;
  reportSeq: number;
  elapsedMs: number;
  extensionsMs: number;
  holdUntil: number;
  /** Of the last figures; null before the first. */
  sinceProgressMs: number | null;
  queued: boolean;
  report: string | null;
  hasTimedOut: boolean;
  heardAt: number;
}

/** A job at a gate, by the clock of whoever took the last turn. */
export interface HeardJob {
  submittedAt: number;
  readonly datacenters: Map<string, HeardDatacenter>;
  /** The message, or the event, that moved the time budget's deadline last, and to when. */
  movedBy: string;
  movedTo: number;
}

const NEW: HeardDatacenter = {
  phase: 'asked',
  leaderFence: 0,
  reportSeq: 0,
  elapsedMs: 0,
  extensionsMs: 0,
  holdUntil: 0,
  sinceProgressMs: null,
  queued: false,
  report: null,
  hasTimedOut: false,
  heardAt: 0,
};

const REPORTS: ReadonlySet<string> = new Set([
  'progress.reported',
  'timeout.reported',
  'leader.transferred',
  'final.reported',
  'status.corrected',
]);

export const isHeardRunning = ({ phase }: HeardDatacenter): boolean =>
  phase === 'running' || phase === 'reported';

/** The last moment at which the time budget is not used up. */
export function budgetEnd({ submittedAt, datacenters }: HeardJob, timeoutMs: number): number {
  let extensionsMs = 0;
  let holdUntil = 0;
  for (const one of datacenters.values()) {
    if (!isHeardRunning(one)) continue;
    extensionsMs = Math.max(extensionsMs, one.extensionsMs);
    holdUntil = Math.max(holdUntil, one.holdUntil);
  }
  return Math.max(submittedAt + timeoutMs + extensionsMs, holdUntil);
}

export class JobsOfGates {
  readonly #known = new Map<string, HeardJob>();
  readonly #facts: JobsFacts;

  constructor(facts: JobsFacts) {
    this.#facts = facts;
  }

  /** As it is after the turn. */
  take(turn: GateTurn): HeardJob {
    const { record, context, before, isBirth } = turn;
    const { address, takenAt } = record;
    let job = this.#known.get(address);
    const isUnseen = job === undefined || (before === undefined && !isBirth);
    if (isBirth) job = born(context, takenAt);
    else if (job === undefined || isUnseen) job = believed(context);
    else this.#apply(job, turn);
    this.#known.set(address, job);
    const dueAt = budgetEnd(job, context.terms.timeoutMs);
    if (dueAt !== job.movedTo) {
      job.movedTo = dueAt;
      const { datacenter } = record.event as { readonly datacenter?: string };
      job.movedBy = `${record.event.type}${datacenter === undefined ? '' : ` of ${datacenter}`} at ${takenAt}`;
    }
    return job;
  }

  forget(address: string): void {
    this.#known.delete(address);
  }

  #apply(job: HeardJob, { record, context, before }: GateTurn): void {
    const { event, takenAt } = record;
    const { type, datacenter = '' } = event as {
      readonly type: string;
      readonly datacenter?: string;
    };
    if (
      type === 'leadership.acquired' &&
      before !== undefined &&
      context.fence > before.context.fence
    )
      moveBack(job, before.context, takenAt);
    if (type.startsWith('xstate.after.dispatchLimit') || context.outcome !== null)
      for (const one of job.datacenters.values()) if (one.phase === 'asked') one.phase = 'out';
    const one = job.datacenters.get(datacenter);
    if (one === undefined) return;
    if (REPORTS.has(type)) {
      if (takeReport(one, event as DatacenterMessage, takenAt) && context.isRebuilt)
        job.submittedAt = Math.min(
          job.submittedAt,
          takenAt - (event as DatacenterMessage).figures.elapsedMs,
        );
    } else if (type === 'submission.answered')
      takeAnswer(
        one,
        event as SubmissionAnswered,
        takenAt > context.bornAt + this.#limitMs(context),
      );
    else if (type === 'ack.received') takeAck(one, event as AckReceived, takenAt);
    else if (type === 'status.found') takeFound(one, event as StatusFound, context.isRebuilt);
    if (one.phase === 'running' && one.heardAt === 0) one.heardAt = takenAt;
  }

  #limitMs({ rules }: GateJobContext): number {
    return rules?.gateDispatchLimitMs ?? this.#facts.config.gateDispatchLimitMs;
  }
}

function born(context: GateJobContext, takenAt: number): HeardJob {
  const phase = context.isRebuilt ? ('running' as const) : ('asked' as const);
  const names = Object.keys(context.datacenters);
  return {
    // What it was born with is not in its record's turn: how long ago it was submitted is told there alone.
    submittedAt: context.submittedAt,
    datacenters: new Map(names.map((name) => [name, { ...NEW, phase, heardAt: takenAt }])),
    movedBy: 'its birth',
    movedTo: 0,
  };
}

function believed({ submittedAt, datacenters }: GateJobContext): HeardJob {
  const known = Object.entries(datacenters).map(([name, record]): [string, HeardDatacenter] => {
    const { phase, final, lastSeenAt, ...rest } = record;
    const isOut = phase === 'late' || phase === 'refused';
    return [
      name,
      {
        ...NEW,
        ...rest,
        phase: isOut ? 'out' : phase,
        hasTimedOut: final?.status === 'timedOut',
        heardAt: lastSeenAt,
      },
    ];
  });
  return { submittedAt, datacenters: new Map(known), movedBy: 'turns that nobody saw', movedTo: 0 };
}

/** A new holder whose clock is behind: what was noted keeps its age. */
function moveBack(job: HeardJob, was: GateJobContext, at: number): void {
  const heard = [...job.datacenters.values()].map(({ heardAt }) => heardAt);
  const latest = Math.max(job.submittedAt, was.bornAt, was.decision?.at ?? 0, ...heard);
  const byMs = Math.max(0, latest - at);
  if (byMs === 0) return;
  job.submittedAt -= byMs;
  for (const one of job.datacenters.values()) {
    one.heardAt -= byMs;
    one.holdUntil = Math.max(0, one.holdUntil - byMs);
  }
}

function takeAnswer(
  one: HeardDatacenter,
  { accepted, leaderFence }: SubmissionAnswered,
  isLate: boolean,
): void {
  if (one.phase !== 'asked') return;
  one.phase = accepted && !isLate ? 'running' : 'out';
  one.leaderFence = Math.max(one.leaderFence, accepted ? leaderFence : 0);
  one.heardAt = 0;
}

function takeAck(one: HeardDatacenter, { ackOf, decisionEpoch }: AckReceived, at: number): void {
  const isOfDecision = ackOf === 'timeout.declared' || ackOf === 'cancel.requested';
  if (isOfDecision && decisionEpoch !== null) one.heardAt = at;
}

function takeFound(one: HeardDatacenter, { found }: StatusFound, isRebuilt: boolean): void {
  if (found === null) {
    if (isRebuilt && one.phase === 'running' && one.leaderFence === 0) one.phase = 'out';
  } else if (isHeardRunning(one) && found.status !== 'running' && found.status !== 'submitted') {
    one.phase = 'final';
    one.hasTimedOut = found.status === 'timedOut';
  }
}

/** False when it changes nothing: it is stale, or comes from elsewhere. */
function takeReport(one: HeardDatacenter, said: DatacenterMessage, at: number): boolean {
  if (one.phase === 'out' || said.leaderFence < one.leaderFence) return false;
  const isNewer = said.leaderFence > one.leaderFence;
  one.heardAt = at;
  if (said.type === 'progress.reported') {
    if (!isNewer && said.reportSeq <= one.reportSeq) return true;
    one.reportSeq = said.reportSeq;
  } else if (isNewer) one.reportSeq = 0;
  const { figures } = said;
  if (isNewer && !figures.locallyTimedOut) one.report = null;
  one.leaderFence = said.leaderFence;
  if (isNewer || figures.elapsedMs >= one.elapsedMs) {
    one.elapsedMs = figures.elapsedMs;
    one.extensionsMs = figures.extensionsMs;
    one.holdUntil = figures.holdMs === 0 ? 0 : at + figures.holdMs;
    one.sinceProgressMs = figures.sinceProgressMs;
    one.queued = figures.queued;
  }
  takeStatus(one, said);
  return true;
}

function takeStatus(one: HeardDatacenter, said: DatacenterMessage): void {
  const status = 'status' in said ? said.status : 'running';
  if (status !== 'running' && status !== 'submitted') {
    one.phase = 'final';
    one.hasTimedOut = status === 'timedOut';
  }
  if (one.phase === 'final') return;
  if (said.type === 'timeout.reported') one.report = said.reason;
  if (said.type === 'status.corrected' && said.figures.locallyTimedOut)
    one.report = said.localReason ?? one.report;
  one.phase = one.report === null ? 'running' : 'reported';
}

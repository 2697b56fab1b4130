/**
 * Knowledge that a gate must have of the datacenters of a job, counted from the messages that it took and
 * the configuration, and not read from its record: deadlines, holds, credit, reports, ends, obedience,
 * silence.
 *
 * Written from the specification. Where turns were not seen it goes on from the record behind them.
 */

import type { DatacenterMessage } from '../../../machines/jobs/datacenter/context.ts';
import { UNREACHABLE } from '../../../machines/jobs/datacenter/steps.ts';
import type {
  AckReceived,
  FinalReported,
  StatusCorrected,
  StatusFound,
  SubmissionAnswered,
  SubmissionDeferred,
} from '../../../machines/jobs/messages/gate.ts';
import type { JobStatus, Outcome } from '../../../machines/jobs/words.ts';
import type { JobsFacts } from '../facts.ts';
import type { End, GateJobContext, GateTurn } from './reading-gate.ts';
import {
  believed,
  budgetEnd,
  type HeardDatacenter,
  type HeardJob,
  isHeardRunning,
  moveBack,
  spawned,
} from './reading-heard-jobs.ts';
import type { Standing } from './reading-steps.ts';

const REPORTS: ReadonlySet<string> = new Set([
  'progress.reported',
  'timeout.reported',
  'leader.transferred',
  'final.reported',
  'status.corrected',
]);

export class JobsOfGates {
  readonly #known = new Map<string, HeardJob>();
  readonly #facts: JobsFacts;

  constructor(facts: JobsFacts) {
    this.#facts = facts;
  }

  /** As it is after the turn. */
  take(turn: GateTurn): HeardJob {
    const { record, context, before, isSpawn } = turn;
    const { address, takenAt } = record;
    let job = this.#known.get(address);
    const isUnseen = job === undefined || (before === undefined && !isSpawn);
    if (isSpawn) job = spawned(turn, this.#facts.config);
    else if (job === undefined || isUnseen) job = believed(context, this.#facts.config);
    else this.#apply(job, turn);
    this.#known.set(address, job);
    job.asOf = takenAt;
    const dueAt = budgetEnd(job);
    if (dueAt !== job.movedTo) {
      job.movedTo = dueAt;
      const { datacenter } = record.event as { readonly datacenter?: string };
      job.movedBy = `${record.event.type}${datacenter === undefined ? '' : ` of ${datacenter}`} at ${takenAt}`;
    }
    return job;
  }

  /** As it was after the last turn. */
  find(address: string): HeardJob | undefined {
    return this.#known.get(address);
  }

  /** Knowledge of a job that stands: where its last turn was not seen its record is believed. */
  standing({ address, context, takenAt }: Standing<GateJobContext>): HeardJob {
    const known = this.#known.get(address);
    return known?.asOf === takenAt ? known : believed(context, this.#facts.config);
  }

  forget(address: string): void {
    this.#known.delete(address);
  }

  #apply(job: HeardJob, turn: GateTurn): void {
    const { record, context, before } = turn;
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
    const isUndecided = before?.context.decision === null;
    const isLimit = type.startsWith('xstate.after.dispatchLimit');
    const isBack =
      (isLimit || type === 'submission.resumed') &&
      isUndecided &&
      isUntaken(job) &&
      takenAt > this.#dispatchDueAt(job, context) + AWAY_MS &&
      takenAt < job.submittedAt + job.terms.timeoutMs;
    const isNewHolder =
      type === 'leadership.acquired' && context.fence > (before?.context.fence ?? context.fence);
    if (isBack || (isNewHolder && isUndecided && isAnyAsked(job)))
      job.fullUntil = Math.max(job.fullUntil, takenAt);
    else if (isLimit || context.outcome !== null)
      // Anybody who speaks in this turn is counted by what it says.
      for (const [name, one] of job.datacenters)
        if (one.phase === 'asked' && name !== datacenter) one.phase = 'out';
    noteDecision(job, turn);
    const one = job.datacenters.get(datacenter);
    if (one === undefined) return;
    if (REPORTS.has(type)) {
      if (takeReport(one, event as DatacenterMessage, takenAt) && context.isRebuilt)
        job.submittedAt = Math.min(
          job.submittedAt,
          takenAt - ageOf(event) - (event as DatacenterMessage).figures.elapsedMs,
        );
    } else if (type === 'submission.answered')
      takeAnswer(one, event as SubmissionAnswered, takenAt > this.#dispatchDueAt(job, context));
    else if (
      type === 'submission.deferred' &&
      isUntaken(job) &&
      one.phase === 'asked' &&
      context.decision === null
    )
      job.fullUntil = Math.max(job.fullUntil, takenAt + (event as SubmissionDeferred).retryAfterMs);
    else if (type === 'ack.received') takeAck(one, event as AckReceived, turn);
    else if (type === 'status.found') takeFound(one, event as StatusFound, context.isRebuilt);
    if (one.phase === 'running' && one.heardAt === 0) one.heardAt = takenAt;
  }

  /** Each datacenter that has too much to do has the whole limit once it is asked again, within the job's time. */
  #dispatchDueAt({ fullUntil, submittedAt, terms }: HeardJob, context: GateJobContext): number {
    const { bornAt } = context;
    const limitMs = this.#facts.config.gateDispatchLimitMs;
    return Math.max(bornAt + limitMs, Math.min(fullUntil + limitMs, submittedAt + terms.timeoutMs));
  }
}

/** Its job has ended so. */
const isOutcome = (status: JobStatus): status is Outcome =>
  status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'timedOut';

/** What is later than its time by so much was due while the gate was away. */
const AWAY_MS = 1_000;

const isAnyAsked = ({ datacenters }: HeardJob): boolean =>
  [...datacenters.values()].some(({ phase }) => phase === 'asked');
const isUntaken = ({ datacenters }: HeardJob): boolean =>
  [...datacenters.values()].every(({ phase }) => phase === 'asked' || phase === 'out');
/** How long it had waited to be sent. */
const ageOf = (event: object): number => (event as { readonly ageMs?: number }).ageMs ?? 0;

function takeAnswer(
  one: HeardDatacenter,
  { accepted, leaderFence, reason }: SubmissionAnswered,
  isLate: boolean,
): void {
  if (one.phase !== 'asked') return;
  one.hasRefused = !accepted && reason !== UNREACHABLE;
  one.phase = accepted && !isLate ? 'running' : 'out';
  one.leaderFence = Math.max(one.leaderFence, accepted ? leaderFence : 0);
  one.heardAt = 0;
}

/** That there is a decision is judged elsewhere; when it was made, and who has obeyed it, is counted. */
function noteDecision(job: HeardJob, { record, context, before }: GateTurn): void {
  const { decision, withdrawn } = context;
  const was = before?.context;
  if (decision === null) job.decidedAt = null;
  else if (was?.decision === null) job.decidedAt = record.takenAt;
  if (was !== undefined && withdrawn > was.withdrawn)
    for (const one of job.datacenters.values()) one.hasObeyed = false;
}

/** An answer to a decision, whichever issue of it. */
function takeAck(
  one: HeardDatacenter,
  { ackOf, decisionEpoch, accepted }: AckReceived,
  { record, before }: GateTurn,
): void {
  const isOfDecision = ackOf === 'timeout.declared' || ackOf === 'cancel.requested';
  if (!isOfDecision || decisionEpoch === null) return;
  one.heardAt = record.takenAt;
  if (accepted && (before?.context.decision ?? null) !== null) one.hasObeyed = true;
}

function takeFound(one: HeardDatacenter, { found }: StatusFound, isRebuilt: boolean): void {
  if (found === null) {
    // Who is not there has not obeyed, and one that was never heard never had it.
    one.hasObeyed = false;
    if (!isRebuilt || one.phase !== 'running' || one.leaderFence > 0) return;
    one.phase = 'out';
    one.hasRefused = true;
  } else if (isHeardRunning(one)) takeEnd(one, found);
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
    one.holdUntil = figures.holdMs === 0 ? 0 : at - ageOf(said) + figures.holdMs;
    one.sinceProgressMs = figures.sinceProgressMs;
    one.queued = figures.queued;
  }
  takeStatus(one, said);
  return true;
}

function takeStatus(one: HeardDatacenter, said: DatacenterMessage): void {
  if (said.type === 'final.reported' || said.type === 'status.corrected') takeEnd(one, said);
  if (one.phase === 'final') return;
  if (said.type === 'timeout.reported') one.report = said.reason;
  if (said.type === 'status.corrected' && said.figures.locallyTimedOut)
    one.report = said.localReason ?? one.report;
  one.phase = one.report === null ? 'running' : 'reported';
}

/** How the job has ended there, in plain words. */
function takeEnd(
  one: HeardDatacenter,
  { status, reason, gateReason }: Pick<FinalReported | StatusCorrected, keyof End>,
): void {
  if (!isOutcome(status)) return;
  one.phase = 'final';
  one.ends = [...one.ends, { status, reason: reason ?? null, gateReason: gateReason ?? null }];
}

/**
 * Messages of leaders and gates that are not what they were: never obeyed, always answered, and in
 * the end made good.
 */

import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { DecisionEpoch } from '../../../machines/jobs/messages/fields.ts';
import type { WorkerContext } from '../../../machines/jobs/worker/context.ts';
import type { HistoryRecord } from '../../history.ts';
import type { Verdict } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { isTakeover } from './reading-accounts.ts';
import { decisionIn, orderOf } from './reading-decisions.ts';
import { healedAtMs, isInCore, reunionMs } from './reading-healed.ts';
import { type GateJobStep, type JobStep, jobsOf, PerActor, watching } from './reading-jobs.ts';
import type { TurnRecord } from './reading-steps.ts';

type SentRecord = Extract<HistoryRecord, { readonly type: 'sent' }>;

/** FE-3. The highest numbers are counted from what was heard: forgetting them is found too. */
export const staleIsNeverObeyed: JobsInvariant = {
  id: 'FE-3',
  kind: 'safety',
  says: 'A message with a stale fence or epoch is obeyed by nobody: not by a job, not by a gate, not by a worker, and not after a restart.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const epochs = new PerActor<JobContext, { highest: DecisionEpoch }>(
      ({ after, before = after }) => ({
        highest: before.highestDecisionEpoch,
      }),
    );
    const terms = new Map<string, WorkerContext>();
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const known = epochs.of(step);
      if (orderOf(after.highestDecisionEpoch, known.highest) < 0)
        verdict.broken(`${record.address} has forgotten epoch [${known.highest}]`, record);
      known.highest = higher(known.highest, heardIn(step));
      const decision = decisionIn(step);
      if (decision === undefined || before === undefined) return;
      const { judgement, event } = decision;
      if (judgement === 'valid') return;
      verdict.exercised();
      if (after.status !== before.status || after.endedAt !== before.endedAt)
        verdict.broken(
          `${record.address} obeys [${event.decisionEpoch}], which is ${judgement}`,
          record,
        );
    };
    const gateJob = (step: GateJobStep): void => checkGate(step, verdict);
    /** The worker whose last turn took a cancel of an earlier leader. */
    let wary: string | undefined;
    const turn = (record: TurnRecord): void => {
      wary = undefined;
      if (record.kind !== 'worker' || record.context === undefined) return;
      if (checkWorker(record, terms, verdict)) wary = record.address;
    };
    const sent = (record: SentRecord): void => {
      // All that leaves a turn follows it directly.
      if (record.from === wary && record.event.type === 'attempt.stop')
        verdict.broken(`${wary} obeys a cancel of an earlier leader`, record);
    };
    const forget = (place: string): void => epochs.forget(place);
    return watching(jobs, { turn, job, gateJob, forget }, { sent });
  },
};

/** What the turn has told the job of its gate's epoch. */
function heardIn({ before, after, record, stateBefore }: JobStep): DecisionEpoch {
  if (before === undefined || stateBefore === 'assembling') return after.highestDecisionEpoch;
  const { type, gateBoot } = record.event as {
    readonly type: string;
    readonly gateBoot?: number | null;
  };
  if (type === 'ack.received') return [gateBoot ?? 0, 0];
  return after.obeyedDecisionEpoch ?? [0, 0];
}

const higher = (one: DecisionEpoch, other: DecisionEpoch): DecisionEpoch =>
  orderOf(one, other) >= 0 ? one : other;

interface DatacenterEvent {
  readonly type: string;
  readonly datacenter?: string;
  readonly leaderFence?: number;
}

const REPORTS: ReadonlySet<string> = new Set([
  'progress.reported',
  'timeout.reported',
  'leader.transferred',
  'final.reported',
  'status.corrected',
]);

/** The datacenter that an older leader of speaks to the gate with this turn. */
function staleDatacenterIn({ before, record }: GateJobStep): string | undefined {
  const { type, datacenter = '', leaderFence = 0 } = record.event as DatacenterEvent;
  if (before === undefined || !REPORTS.has(type)) return undefined;
  const known = before.datacenters[datacenter];
  if (known === undefined || known.run === 'refused') return undefined;
  return leaderFence < known.leaderFence ? datacenter : undefined;
}

function checkGate(step: GateJobStep, verdict: Verdict): void {
  const { before, after, record } = step;
  const stale = staleDatacenterIn(step);
  if (stale !== undefined) verdict.exercised();
  if (before === undefined || before.datacenters === after.datacenters) return;
  for (const name in before.datacenters) {
    const [had, has] = [before.datacenters[name], after.datacenters[name]];
    if ((has?.leaderFence ?? 0) < (had?.leaderFence ?? 0))
      verdict.broken(`${record.address} goes back to an older leader of ${name}`, record);
  }
  if (stale !== undefined && !isSameAs(before, after, stale))
    verdict.broken(`${record.address} takes what an older leader of ${stale} says`, record);
}

/** What a message of a datacenter could have changed; what the gate does by itself may come with it. */
function isSameAs(before: GateJobContext, after: GateJobContext, name: string): boolean {
  const [had, has] = [before.datacenters[name], after.datacenters[name]];
  return (
    had?.leaderFence === has?.leaderFence &&
    had?.reportSeq === has?.reportSeq &&
    had?.report === has?.report &&
    had?.extensionsMs === has?.extensionsMs &&
    had?.elapsedMs === has?.elapsedMs &&
    had?.lastSeenAt === has?.lastSeenAt &&
    (had?.final === null) === (has?.final === null)
  );
}

const ORDERS: ReadonlySet<string> = new Set([
  'dispatch.requested',
  'leader.announced',
  'cancel.ordered',
]);

/**
 * Workers know leaders by their term. Each life of one is somebody else, with an address of its own.
 * True after a cancel of an earlier leader: that shows in what is told to the attempt.
 */
function checkWorker(
  record: TurnRecord,
  terms: Map<string, WorkerContext>,
  verdict: Verdict,
): boolean {
  const { address, event, context } = record;
  const before = terms.get(address);
  const after = context as WorkerContext;
  terms.set(address, after);
  if (before === undefined) return false;
  if (after.term < before.term)
    verdict.broken(`${address} has forgotten term ${before.term}`, record);
  const { type, term = before.term } = event as { readonly type: string; readonly term?: number };
  if (term >= before.term || !ORDERS.has(type)) return false;
  verdict.exercised();
  if (!isSameWork(before, after))
    verdict.broken(`${address} obeys ${type} of term ${term} and knows ${before.term}`, record);
  return type === 'cancel.ordered';
}

/** One that was read from its record meanwhile has the same attempts in other objects. */
function isSameWork(before: WorkerContext, after: WorkerContext): boolean {
  const isSameList = before.attempts === after.attempts || namesOf(before) === namesOf(after);
  return isSameList && before.announcement?.term === after.announcement?.term;
}

const namesOf = ({ attempts }: WorkerContext): string => [...attempts.keys()].join();

/** What a gate answers to these may get lost: nobody waits for it. */
const NOT_ANSWERED_FOR_CERTAIN: ReadonlySet<string> = new Set([
  'progress.reported',
  'status.corrected',
]);

/** FE-4. What is not answered for certain leaves no outbox, so that answer does not count. */
export const staleIsAnsweredOnce: JobsInvariant = {
  id: 'FE-4',
  kind: 'safety',
  says: 'Each decision refused as stale is answered with one correction, and each stale message of a datacenter with one refusal, with the fence that is known.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    let owed: Owed | undefined;
    const settle = (): void => {
      if (owed === undefined) return;
      const { record, answers, what } = owed;
      owed = undefined;
      if (answers !== 1)
        verdict.broken(`${record.address} answers ${answers} times to ${what}`, record);
    };
    const owe = (record: TurnRecord, fence: number, isAnswer: Owed['isAnswer']): void => {
      verdict.exercised();
      owed = { record, fence, isAnswer, answers: 0, what: record.event.type };
    };
    const job = (step: JobStep): void => {
      if (decisionIn(step)?.judgement === 'stale')
        owe(step.record, step.after.leaderFence, ({ type }) => type === 'status.corrected');
    };
    const gateJob = (step: GateJobStep): void => {
      const stale = staleDatacenterIn(step);
      if (stale === undefined || NOT_ANSWERED_FOR_CERTAIN.has(step.record.event.type)) return;
      owe(step.record, step.after.datacenters[stale]?.leaderFence ?? 0, isRefusal);
    };
    const sent = ({ from, event }: SentRecord): void => {
      if (owed?.record.address !== from || !owed.isAnswer(event)) return;
      owed.answers += 1;
      const { leaderFence } = event as DatacenterEvent;
      if (leaderFence !== owed.fence)
        verdict.broken(
          `${from} answers with fence ${leaderFence} and knows ${owed.fence}`,
          owed.record,
        );
    };
    // All that leaves a turn follows it directly.
    return watching(jobs, { turn: settle, job, gateJob }, { sent, end: settle });
  },
};

interface Owed {
  readonly record: TurnRecord;
  readonly fence: number;
  readonly isAnswer: (event: { readonly type: string }) => boolean;
  readonly what: string;
  answers: number;
}

function isRefusal(event: { readonly type: string }): boolean {
  const { type, reason } = event as { readonly type: string; readonly reason?: unknown };
  return type === 'ack.received' && reason === 'staleFence';
}

interface Open {
  readonly jobId: string;
  readonly place: string;
  /** When it has to be over, in true time. */
  readonly lastMs: number;
}

/** FE-5. */
export const staleIsMadeGood: JobsInvariant = {
  id: 'FE-5',
  kind: 'liveness',
  says: 'A decision that stands and was refused as stale is obeyed, or taken back, soon after gate and datacenter have found each other.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const healed = healedAtMs(facts);
    const open = new Map<string, Open>();
    /** The decision of each job that stands. */
    const standing = new Map<string, DecisionEpoch>();
    const job = (step: JobStep): void => {
      const { after, record } = step;
      const { address, atMs, place } = record;
      if (after.endedAt !== null || isTakeover(step)) open.delete(address);
      const decision = healed === null ? undefined : decisionIn(step);
      if (healed === null || decision?.judgement !== 'stale') return;
      const epoch = standing.get(after.jobId);
      const known = open.get(address);
      if (known !== undefined && atMs > known.lastMs)
        verdict.broken(`${address} refuses a decision again and again`, record);
      // A gate that knew of the new leader has sent its decision again already: it stands all the same.
      if (known !== undefined || epoch === undefined) return;
      if (orderOf(epoch, decision.event.decisionEpoch) < 0 || !isReachable(step, facts)) return;
      verdict.exercised();
      open.set(address, {
        jobId: after.jobId,
        place,
        lastMs: Math.max(atMs, healed) + reunionMs(facts),
      });
    };
    const gateJob = ({ after }: GateJobStep): void => {
      const { jobId, decision, outcome } = after;
      if (decision !== null && outcome === null) standing.set(jobId, decision.epoch);
      else if (standing.delete(jobId))
        for (const [address, { jobId: own }] of open) if (own === jobId) open.delete(address);
    };
    const end = (endedAtMs: number): void => {
      for (const [address, { lastMs }] of open)
        if (endedAtMs > lastMs)
          verdict.broken(`${address} has refused a decision and heard no more`);
    };
    const forget = (): void => open.clear();
    return watching(jobs, { job, gateJob, forget }, { end });
  },
};

function isReachable({ after, record }: JobStep, facts: JobsFacts): boolean {
  return isInCore(facts, record.place) && isInCore(facts, after.gateId ?? '');
}

/**
 * Fallback of a datacenter that cannot reach its gate: nothing too early, nothing for ever, one end.
 */

import type { TimeoutDeclared } from '../../../machines/jobs/messages/gate.ts';
import type { JobsInvariant } from '../facts.ts';
import { hasEnded, isWordOfGate, JobEnds, type JobTurn } from './reading-ends.ts';
import { electionMs, LATENESS_MS, RETRY_MAX_MS } from './reading-healed.ts';
import { type JobStep, jobsOf, watching } from './reading-jobs.ts';
import { Soundness } from './reading-soundness.ts';
import { Stores } from './reading-stores.ts';
import { eventOf, followTurns, together } from './reading-turns.ts';

/** True when the turn ended the job because the gate was out of contact. */
const isFallback = ({ context, last, record }: JobTurn): boolean =>
  context.reason === 'fallback' &&
  context.endedAt === record.takenAt &&
  (last?.context.endedAt ?? null) === null;

/** Leaders since then; each may make it seem older, or younger, by the difference of two clocks. */
const skewMs = (epsilonMs: number, { leaderFence }: JobTurn['context'], since: number): number =>
  2 * epsilonMs * (leaderFence - since);

/** Judged by the report that it made and the words of its gate that it took, not by its record. */
export const fallsBackLate: JobsInvariant = {
  id: 'FB-1',
  kind: 'safety',
  says: 'A datacenter decides without its gate only when its report was durable before and more than the fallback time has passed since the later of the report and the last word of the gate.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const { was } = jobs.accounts.take(step);
      const isEnd = after.endedAt === record.takenAt && (before?.endedAt ?? null) === null;
      if (was === undefined || after.reason !== 'fallback' || !isEnd) return;
      verdict.exercised();
      const { address, takenAt } = record;
      if (was.reportedAt === null)
        verdict.broken(`${address} fell back before its report was durable`, record);
      const dueAt = jobs.accounts.fallbackDue(was);
      if (takenAt > dueAt) return;
      verdict.broken(
        `${address} fell back ${dueAt - takenAt} ms too early: it reported at ${was.reportedAt} and heard its gate at ${was.heardGateAt}`,
        record,
      );
    };
    return watching(jobs, { job });
  },
};

interface Waiting {
  readonly datacenter: string;
  /** When it reported, or heard its gate last. */
  readonly sinceMs: number;
  readonly leaderFence: number;
}

/**
 * Whether the gate is back or not does not matter, and neither does the network: a datacenter that has been
 * sound since its fallback was due has ended the job, in any run and at any moment of it.
 */
export const fallsBackAtLast: JobsInvariant = {
  id: 'FB-2',
  kind: 'liveness',
  says: 'A job that has reported a timeout and hears nothing of its gate for the fallback time has ended soon after, over any number of failovers.',
  watch: (facts, verdict) => {
    const { epsilonMs } = facts;
    const jobs = new JobEnds();
    const stores = new Stores();
    const waiting = new Map<string, Waiting>();
    const slackMs = electionMs(facts) + RETRY_MAX_MS + 2 * epsilonMs + LATENESS_MS;
    const judge = (
      address: string,
      one: Waiting,
      atMs: number,
      soundMs: number,
      turn?: JobTurn,
    ): void => {
      const context = jobs.all.get(address)?.context;
      if (context === undefined) return;
      const { gateFallbackMs } = context.rules;
      const lateMs = skewMs(epsilonMs, context, one.leaderFence) + slackMs;
      const dueMs = Math.max(one.sinceMs + gateFallbackMs, soundMs) + lateMs;
      if (atMs <= dueMs || (turn === undefined && hasEnded(stores, address))) return;
      verdict.broken(
        `${address} waits since ${one.sinceMs} ms and had not ended at ${dueMs} ms, ${gateFallbackMs} ms of fallback and ${lateMs} ms of grace later`,
        turn?.record,
      );
    };
    const soundness = new Soundness(facts, (place, atMs, soundMs) => {
      for (const [address, one] of waiting)
        if (one.datacenter === place) judge(address, one, atMs, soundMs);
    });
    const watcher = jobs.watch(({ address, context }, turn) => {
      const one = waiting.get(address);
      if (context.timeoutReportedAt === null) return;
      const soundMs = soundness.since(context.datacenter);
      const isOver = context.endedAt !== null || isWordOfGate(turn.record);
      // A word of the gate that comes after all is too late to put anything off.
      if (isOver && one !== undefined && soundMs !== undefined)
        judge(address, one, turn.record.atMs, soundMs, turn);
      if (context.endedAt !== null) {
        if (isFallback(turn)) verdict.exercised();
        waiting.delete(address);
        return;
      }
      // What nobody saw may have been a word of the gate; what was seen has to be one.
      const { last, before, record } = turn;
      const heardAt = last?.context.lastGateContactAt ?? Number.NEGATIVE_INFINITY;
      const isUnseen = before === undefined && context.lastGateContactAt > heardAt;
      if (one !== undefined && !isWordOfGate(record) && !isUnseen) return;
      const { datacenter, leaderFence } = context;
      waiting.set(address, { datacenter, sinceMs: record.atMs, leaderFence });
    });
    return together(watcher, soundness.watcher(), {
      commit: stores.commit,
      end(endedAtMs) {
        soundness.end(endedAtMs);
      },
    });
  },
};

export const fallsBackOnlyWhenDue: JobsInvariant = {
  id: 'FB-3',
  kind: 'safety',
  says: 'Only a job under a gate that was due by itself, and said so, ends by falling back.',
  watch: (_, verdict) =>
    followTurns<JobTurn['context']>('job', {
      took(turn) {
        if (!isFallback(turn)) return;
        verdict.exercised();
        const { record, context, before } = turn;
        const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
        if (context.gateId === null) broken('fell back and has no gate');
        if (context.timeoutReportedAt === null || context.localReason === null)
          broken('fell back and was not due');
        if (before === undefined) return;
        if (!before.state.includes('"reported"')) broken('fell back out of another state');
        if (before.context.localReason !== context.localReason) broken('changed why it was due');
      },
    }),
};

export const endsOnce: JobsInvariant = {
  id: 'FB-4',
  kind: 'safety',
  says: 'When a datacenter has fallen back and the decision of its gate comes after, or the other way round, the end that was durable first stays, and the later decision is logged among what came too late.',
  watch: (_, verdict) =>
    followTurns<JobTurn['context']>('job', {
      took({ record, context, last, before }) {
        const was = last?.context;
        if (was === undefined || was.endedAt === null || was.status !== 'timedOut') return;
        const decided = eventOf<TimeoutDeclared>(record, 'timeout.declared');
        if (decided === undefined) return;
        verdict.exercised();
        const isSame =
          context.status === was.status &&
          context.reason === was.reason &&
          context.gateReason === was.gateReason &&
          context.endedAt === was.endedAt;
        const { address } = record;
        if (!isSame) verdict.broken(`${address} had ended as ${was.reason} and changed it`, record);
        const { obeyedDecisionEpoch: obeyed, leaderFence } = was;
        const isRepeat = obeyed !== null && String(obeyed) === String(decided.decisionEpoch);
        if (before === undefined || isRepeat || decided.leaderFence > leaderFence) return;
        const late = context.lateEvents.at(-1);
        if (late?.type !== 'timeout.declared' || late.at !== record.takenAt)
          verdict.broken(`${address} did not note a decision that came too late`, record);
      },
    }),
};

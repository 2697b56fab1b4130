/**
 * The numbers that make a late leader, and a late decision, harmless: they rise and are never used twice.
 */

import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { DecisionEpoch } from '../../../machines/jobs/messages/fields.ts';
import type { HistoryRecord } from '../../history.ts';
import { type CommitRecord, isWritten } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';
import { isTakeover } from './reading-accounts.ts';
import { orderOf } from './reading-decisions.ts';
import { type GateJobStep, type JobStep, jobsOf, PerActor, watching } from './reading-jobs.ts';

type SentRecord = Extract<HistoryRecord, { readonly type: 'sent' }>;
type LeaseRecord = Extract<HistoryRecord, { readonly type: 'lease' }>;

/** FE-1. What a job says carries the fence that is in its record. */
export const leaderFenceRises: JobsInvariant = {
  id: 'FE-1',
  kind: 'safety',
  says: 'The leader fence of a job rises by one with each leader, never falls, and is on disk before it is used.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    let spoken: JobStep | undefined;
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      spoken = step;
      if (before === undefined) {
        if (!step.hasGap && after.leaderFence !== 1)
          verdict.broken(`${record.address} is spawned under fence ${after.leaderFence}`, record);
        return;
      }
      if (isTakeover(step)) verdict.exercised();
      if (!isRise(step))
        verdict.broken(
          `${record.address} went from fence ${before.leaderFence} to ${after.leaderFence} by ${record.event.type}`,
          record,
        );
    };
    const sent = (record: SentRecord): void => {
      if (spoken?.record.address !== record.from) return;
      const { leaderFence } = record.event as { readonly leaderFence?: number };
      const own = spoken.after.leaderFence;
      if (leaderFence !== undefined && leaderFence !== own)
        verdict.broken(`${record.from} says fence ${leaderFence} and has ${own}`, record);
    };
    // One that is told late, when others have been, is no step.
    const turn = (): void => {
      spoken = undefined;
    };
    return watching(jobs, { turn, job }, { sent });
  },
};

/** Rises by one with a leader; above the number it was told where a gate knew a greater one; else not at all. */
function isRise(step: JobStep): boolean {
  const { before, after, record } = step;
  const rise = after.leaderFence - (before as JobContext).leaderFence;
  if (isTakeover(step)) return rise === 1;
  if (rise === 0) return true;
  const { leaderFence: told = 0 } = record.event as { readonly leaderFence?: number };
  return record.event.type === 'ack.received' && rise > 0 && after.leaderFence === told + 1;
}

interface Epochs {
  /** Each declaration that was sent: its epoch, and to whom. */
  readonly sent: Set<string>;
  highest: DecisionEpoch;
  /** What was decided under the highest. */
  decided: string;
}

/** FE-2. Of a gate that has lost its records nobody can say what it had decided. */
export const decisionEpochRises: JobsInvariant = {
  id: 'FE-2',
  kind: 'safety',
  says: 'A gate decides once under each epoch of a job, epochs rise, and a gate that has started again decides under its new boot number.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const epochs = new PerActor<GateJobContext, Epochs>(() => ({
      sent: new Set(),
      highest: [0, 0],
      decided: '',
    }));
    const gateJob = (step: GateJobStep): void => {
      const { before, after, record } = step;
      const known = epochs.of(step);
      if (before !== undefined && isFallen(before, after))
        verdict.broken(
          `${record.address} went from [${before.gateBoot},${before.counter}] to [${after.gateBoot},${after.counter}]`,
          record,
        );
      if (after.gateBoot < after.fence && after.rules !== null)
        verdict.broken(
          `${record.address} acts as boot ${after.gateBoot} under fence ${after.fence}`,
          record,
        );
      const { decision } = after;
      if (decision === null || decision === before?.decision) return;
      const name = decision.kind === 'timeout' ? decision.reason : decision.kind;
      const order = orderOf(decision.epoch, known.highest);
      if (order < 0 || (order === 0 && known.decided !== name))
        verdict.broken(
          `${record.address} decides ${name} under [${decision.epoch}] after ${known.decided} under [${known.highest}]`,
          record,
        );
      if (order <= 0) return;
      verdict.exercised();
      known.highest = decision.epoch;
      known.decided = name;
      if (before !== undefined && !step.hasGap && decision.epoch[0] !== after.gateBoot)
        verdict.broken(`${record.address} decides as boot ${decision.epoch[0]}`, record);
    };
    const sent = ({ from, to, event, ...record }: SentRecord): void => {
      if (event.type !== 'timeout.declared') return;
      const known = epochs.find(from)?.sent;
      const name = `${(event as DeclaredEvent).decisionEpoch} ${to}`;
      if (known?.has(name) === true)
        verdict.broken(`${from} declares twice under ${name}`, { ...record, from, to, event });
      known?.add(name);
    };
    const forget = (place: string): void => epochs.forget(place);
    return watching(jobs, { gateJob, forget }, { sent });
  },
};

interface DeclaredEvent {
  readonly type: string;
  readonly decisionEpoch: DecisionEpoch;
}

function isFallen(before: GateJobContext, after: GateJobContext): boolean {
  return (
    after.gateBoot < before.gateBoot || after.counter < before.counter || after.fence < before.fence
  );
}

/** FE-6. What receivers make of an old leader's messages is FE-3. */
export const deposedLeaderIsHarmless: JobsInvariant = {
  id: 'FE-6',
  kind: 'safety',
  says: 'Once a leader has written under its fence, nothing of a leader before it is written any more, whenever that one wakes up.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const fences = new Map<string, { fence: number; node: string }>();
    const commit = (record: CommitRecord): void => {
      const { shard, fence, node, place, change } = record;
      const known = fences.get(shard);
      if (known !== undefined && fence < known.fence) {
        // It is tried and refused: that is what the fence is for.
        verdict.exercised();
        if (isWritten(record) && record.writes.length > 0)
          verdict.broken(
            `${node} writes for ${place} under ${fence} after ${known.node} under ${known.fence}`,
            record,
          );
      } else if (change === 'settled') {
        if (known !== undefined && known.fence < fence) verdict.exercised();
        if (known?.fence === fence && known.node !== node)
          verdict.broken(`${node} and ${known.node} write for ${place} under ${fence}`, record);
        fences.set(shard, { fence, node });
      }
    };
    const forget = (place: string): void => {
      fences.delete(place);
    };
    return watching(jobs, { commit, forget });
  },
};

/** FE-7. Numbers that are no fences are refused where they come in; see the tests of admission. */
export const fencesAreWhole: JobsInvariant = {
  id: 'FE-7',
  kind: 'safety',
  says: 'Fences, terms and epochs are whole numbers up to 2^53 - 1.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const check = (record: HistoryRecord, what: string, ...numbers: readonly number[]): void => {
      verdict.exercised();
      for (const number of numbers)
        if (!Number.isSafeInteger(number) || number < 0)
          verdict.broken(`${what} has ${number} for a fence`, record);
    };
    const job = ({ before, after, record }: JobStep): void => {
      const { leaderFence, term, highestDecisionEpoch } = after;
      const isSame = leaderFence === before?.leaderFence && term === before.term;
      if (isSame && highestDecisionEpoch === before.highestDecisionEpoch) return;
      check(record, record.address, leaderFence, term, ...highestDecisionEpoch);
    };
    const gateJob = ({ before, after, record }: GateJobStep): void => {
      const { gateBoot, counter, fence, datacenters } = after;
      if (gateBoot !== before?.gateBoot || counter !== before.counter)
        check(record, record.address, gateBoot, counter, fence);
      if (datacenters === before?.datacenters) return;
      for (const name in datacenters) {
        const known = datacenters[name]?.leaderFence ?? 0;
        if (known !== before?.datacenters[name]?.leaderFence) check(record, record.address, known);
      }
    };
    const lease = (record: LeaseRecord): void => check(record, record.place, record.fence);
    return watching(jobs, { job, gateJob }, { lease });
  },
};

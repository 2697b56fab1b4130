/**
 * Authority to find a job overdue: its datacenter or its gate, fixed at submission; and of the nodes of a
 * datacenter only its leader.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { HistoryRecord } from '../../history.ts';
import { type CommitRecord, isWritten, turnsOf } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';
import { isStuckPossible, localVerdict } from './reading-deadlines.ts';
import { type JobStep, jobsOf, PerActor, watching } from './reading-jobs.ts';

type TimersRecord = Extract<HistoryRecord, { readonly type: 'timers' }>;

/** TO-10. */
export const authorityNeverChanges: JobsInvariant = {
  id: 'TO-10',
  kind: 'safety',
  says: 'A job without a gate is under local authority and one with a gate is not, from its submission to its end.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const gates = new PerActor<JobContext, { readonly gateId: string | null; state: string }>(
      ({ after }) => ({ gateId: after.gateId, state: '' }),
    );
    const job = (step: JobStep): void => {
      const { after, record } = step;
      const kept = gates.of(step);
      if (after.gateId !== kept.gateId)
        verdict.broken(`${record.address} had ${kept.gateId} and has ${after.gateId}`, record);
      if (record.state === kept.state) return;
      kept.state = record.state;
      const isLocal = record.state.includes('"localAuthority"');
      const isCoordinated = record.state.includes('"gateCoordinated"');
      if (!isLocal && !isCoordinated) return;
      verdict.exercised();
      if (isLocal !== (after.gateId === null))
        verdict.broken(`${record.address} with gate ${after.gateId} is in ${record.state}`, record);
    };
    return watching(jobs, { job, forget: (place) => gates.forget(place) });
  },
};

/** TO-11. That an old leader cannot write at all is FE-6. */
export const onlyLeaderDecides: JobsInvariant = {
  id: 'TO-11',
  kind: 'safety',
  says: 'Only the node that leads a datacenter finds deadlines passed there, and no two nodes do under one leader fence of a job.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const writers = new Writers();
    const deciders = new PerActor<JobContext, Map<number, string>>(() => new Map());
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const byFence = deciders.of(step);
      if (localVerdict(before, after) === undefined && !isFallback(step)) return;
      verdict.exercised();
      const { node, address, turn } = record;
      const writer = writers.of(address, turn) ?? node;
      if (writer !== node)
        verdict.broken(`${address} is decided by ${node} in a turn of ${writer}`, record);
      const decider = byFence.get(after.leaderFence) ?? node;
      byFence.set(after.leaderFence, decider);
      if (decider !== node)
        verdict.broken(`${address} is decided by ${decider} and ${node} under one fence`, record);
    };
    const commit = (record: CommitRecord): void => writers.commit(record);
    const forget = (place: string): void => {
      writers.forget(place);
      deciders.forget(place);
    };
    return watching(jobs, { job, commit, forget });
  },
};

interface Written {
  readonly node: string;
  /** The last turn of the actor that the node wrote. */
  turns: number;
}

/** Which node wrote which turns of each job. */
class Writers {
  readonly #written = new Map<string, Written[]>();

  commit(record: CommitRecord): void {
    if (!isWritten(record)) return;
    for (const { address, record: text } of record.writes) {
      if (!address.startsWith('job/')) continue;
      if (text === null) this.#written.delete(address);
      else this.#write(address, record.node, turnsOf(text));
    }
  }

  of(address: string, turn: number): string | undefined {
    return this.#written.get(address)?.find(({ turns }) => turns >= turn)?.node;
  }

  forget(place: string): void {
    for (const address of this.#written.keys())
      if (address.endsWith(`@${place}`)) this.#written.delete(address);
  }

  #write(address: string, node: string, turns: number): void {
    const known = this.#written.get(address);
    const last = known?.at(-1);
    if (known === undefined) this.#written.set(address, [{ node, turns }]);
    else if (last?.node === node) last.turns = turns;
    else known.push({ node, turns });
  }
}

function isFallback({ before, after }: JobStep): boolean {
  return before?.endedAt === null && after.endedAt !== null && after.reason === 'fallback';
}

/** TO-12. That a gate counts nobody as stuck who only queues is GA-9. */
export const queueingIsNotStuck: JobsInvariant = {
  id: 'TO-12',
  kind: 'safety',
  says: 'While no attempt of a job is dispatched or running it waits for no deadline for lack of progress, unless it is configured so.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    let waiting: JobStep | undefined;
    const job = (step: JobStep): void => {
      // The deadlines of a turn follow it.
      waiting = isStuckPossible(step.after) ? undefined : step;
    };
    const timers = (record: TimersRecord): void => {
      const step = waiting;
      waiting = undefined;
      if (step === undefined || step.record.address !== record.address) return;
      verdict.exercised();
      if (record.timers.some(({ id }) => id.includes('stuckLimit')))
        verdict.broken(`${record.address} waits to be stuck with nothing out`, record);
    };
    const turn = (): void => {
      waiting = undefined;
    };
    return watching(jobs, { turn, job }, { timers });
  },
};

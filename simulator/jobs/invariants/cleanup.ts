/** Remains of a job that has ended: nothing that fires, nothing that waits. */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { JobsInvariant } from '../facts.ts';
import type { GateJobContext } from './reading-gate.ts';
import {
  type ActorRecord,
  followTurns,
  isDeadline,
  type TurnRecord,
  together,
} from './reading-turns.ts';

export const nothingFiresAfterTheEnd: JobsInvariant = {
  id: 'CL-1',
  kind: 'safety',
  says: 'No deadline of a job comes after its end is durable, in its datacenter or at its gate, and no actor takes anything after it has ended.',
  watch: (_, verdict) => {
    const jobs = followTurns<JobContext>('job', {
      took({ record, context, last }) {
        if (context.endedAt === null) return;
        const hadEnded = (last?.context.endedAt ?? null) !== null;
        if (!hadEnded) verdict.exercised();
        // The turn before may have been durable without anybody seeing it.
        if (isDeadline(record) && (hadEnded || context.endedAt < record.takenAt))
          verdict.broken(`${record.event.type} came after ${record.address} had ended`, record);
      },
    });
    const gateJobs = followTurns<GateJobContext>('gate-job', {
      took({ record, context, last }) {
        const { outcome } = context;
        if (outcome === null) return;
        const hadEnded = (last?.context.outcome ?? null) !== null;
        if (!hadEnded) verdict.exercised();
        const isLinger = record.event.type.startsWith('xstate.after.lingerLimit.');
        if (isDeadline(record) && !isLinger && (hadEnded || outcome.at < record.takenAt))
          verdict.broken(`${record.event.type} came after ${record.address} had ended`, record);
      },
    });
    return together(
      jobs,
      gateJobs,
      afterItsEnd((record) => {
        verdict.broken(`${record.address} has ended and took ${record.event.type}`, record);
      }),
    );
  },
};

/** Hears of every turn that an actor takes after its end. */
function afterItsEnd(hear: (record: TurnRecord) => void) {
  /** The last turn of those that have ended. */
  const ended = new Map<string, number>();
  let last: TurnRecord | undefined;
  return {
    turn(record: TurnRecord) {
      last = record;
      const end = ended.get(record.address);
      if (end === undefined || record.turn <= end) return;
      // Between the two it may have begun another life that nobody saw begin.
      if (record.turn === end + 1) hear(record);
      else ended.delete(record.address);
    },
    actor({ address, change }: ActorRecord) {
      if (change === 'born') ended.delete(address);
      else if (last?.address === address) ended.set(address, last.turn);
    },
  };
}

export const tracksNothingAgain: JobsInvariant = {
  id: 'CL-3',
  kind: 'safety',
  says: 'Whatever comes to a job that has ended, from any sender and however often, arms no deadline, changes nothing about its end, and brings no state back in which it is tracked.',
  watch: (_, verdict) =>
    followTurns<JobContext>('job', {
      took({ record, context, last }) {
        const was = last?.context;
        if (was === undefined || was.endedAt === null) return;
        verdict.exercised();
        const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
        const isSame =
          context.endedAt === was.endedAt &&
          context.status === was.status &&
          context.reason === was.reason &&
          context.localReason === was.localReason;
        if (!isSame) broken(`had ended as ${was.status} ${was.reason} and changed it`);
        if (record.state.startsWith('{"active"')) broken('is tracked again');
      },
      armed({ timers }, { record, context }) {
        if (context.endedAt !== null && timers.length > 0)
          verdict.broken(`${record.address} has ended and waits for ${timers[0]?.id}`, record);
      },
    }),
};

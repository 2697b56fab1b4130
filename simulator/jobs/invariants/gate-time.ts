/**
 * Time budget at a gate: when it may find a job's used up, by what it was told, and by true time.
 *
 * The deadline is worked out from the messages that the gate took, and held against the deadline that it
 * waits for after each of its turns: a hold or a credit that is reckoned wrongly is seen at once.
 */

import type { JobsInvariant } from '../facts.ts';
import { inputsOf } from './gate-rules-by-messages.ts';
import type { GateJobContext, GateTurn } from './reading-gate.ts';
import { JobsOfGates } from './reading-gate-messages.ts';
import { budgetEnd, type HeardJob } from './reading-heard-jobs.ts';
import { jobsOf, watching } from './reading-jobs.ts';
import { followTurns, together } from './reading-turns.ts';

/** TO-5. It holds for what the gate has heard: a report that is late cannot count. */
export const gateNeverOverdueEarly: JobsInvariant = {
  id: 'TO-5',
  kind: 'safety',
  says: 'A gate finds the time budget of a job used up only after its timeout, the largest extension and every hold that it has heard of from a running datacenter.',
  watch(facts, verdict) {
    const { clocks } = jobsOf(facts);
    const heard = new JobsOfGates(facts);
    /** When each job was submitted, in true time; unknown for one that was rebuilt, or spawned unseen. */
    const submittedAt = new Map<string, number>();
    const checkTrueTime = ({ record, context }: GateTurn, job: HeardJob): void => {
      const submitted = submittedAt.get(record.address);
      if (submitted === undefined) return;
      const elapsedMs = clocks.trueTime(record) - submitted;
      if (elapsedMs > job.terms.timeoutMs - clocks.slackMs(facts.epsilonMs, context.fence)) return;
      verdict.broken(`${record.address} is overdue after ${elapsedMs} ms`, record);
    };
    const gates = followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context, isSpawn, last } = turn;
        const { address, takenAt } = record;
        const job = heard.take(turn);
        const isFirst = isSpawn || (last === undefined && record.turn === 1);
        if (isFirst && !context.isRebuilt)
          submittedAt.set(
            address,
            clocks.trueTime(record) - (context.bornAt - context.submittedAt),
          );
        if (!isOverdueDeclared(turn)) return;
        verdict.exercised();
        const earlyMs = budgetEnd(job) - takenAt;
        if (earlyMs >= 0)
          verdict.broken(
            `${address} is overdue ${earlyMs} ms early: ${inputsOf(job, takenAt)}`,
            record,
          );
        checkTrueTime(turn, job);
      },
      forgot: (address) => {
        heard.forget(address);
        submittedAt.delete(address);
      },
    });
    return together(watching(jobsOf(facts), {}), gates);
  },
};

function isOverdueDeclared({ before, context }: GateTurn): boolean {
  if (before === undefined) return false;
  if (context.shadowed?.reason === 'overall' && before.context.shadowed === null) return true;
  const { decision } = context;
  if (decision?.kind !== 'timeout' || decision.reason !== 'overall') return false;
  return context.declared > before.context.declared;
}

/** TO-6 at a gate. While it listens after a start it waits for no deadline of a job. */
export const gateWaitsForWhatItWasTold: JobsInvariant = {
  id: 'TO-14',
  kind: 'safety',
  says: 'The deadline that a gate waits for is the timeout and the largest extension, and no hold is over before it: moved by nothing but what running datacenters say.',
  watch(facts, verdict) {
    const heard = new JobsOfGates(facts);
    let job: HeardJob | undefined;
    return followTurns<GateJobContext>('gate-job', {
      took(turn) {
        job = heard.take(turn);
      },
      armed({ timers, address }, { record }) {
        const overall = timers.find(({ id }) => id.startsWith('xstate.after.overallLimit.'));
        if (overall === undefined || job === undefined) return;
        verdict.exercised();
        const dueAt = budgetEnd(job) + 1;
        // What has passed already is found in the same moment, whatever it was armed for.
        if (overall.dueAt === dueAt || (dueAt <= record.takenAt && overall.dueAt <= record.takenAt))
          return;
        verdict.broken(
          `${address} waits for ${overall.dueAt}, it is due at ${dueAt}: ${inputsOf(job, record.takenAt)}`,
          record,
        );
      },
      forgot: (address) => heard.forget(address),
    });
  },
};

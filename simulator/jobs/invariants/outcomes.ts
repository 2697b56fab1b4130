/** The outcome of a job of several datacenters: what it follows from, and that it stays. */

import type { GateOutcome } from '../../../machines/jobs/gate-job/context.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { HistoryRecord } from '../../history.ts';
import type { JobsInvariant } from '../facts.ts';
import { type DatacenterRecord, type End, type GateJobContext, outcomeOf } from './reading-gate.ts';
import { JobsOfGates } from './reading-gate-messages.ts';
import { type HeardJob, isHeardTarget } from './reading-heard-jobs.ts';
import { followTurns, together } from './reading-turns.ts';

type AnswerRecord = Extract<HistoryRecord, { readonly type: 'answer' }>;
type CallRecord = Extract<HistoryRecord, { readonly type: 'call' }>;

/** Judged by the ends that the datacenters told. What is presumed follows from the decision: GA-1, GA-2. */
export const followsFromEnds: JobsInvariant = {
  id: 'OUT-1',
  kind: 'safety',
  says: 'The outcome of a job is what follows from the ends in its targets, in whatever order they came. An end that is missing is presumed only after the settle limit of a decision, and marked as unconfirmed.',
  watch: (facts, verdict) => {
    const heard = new JobsOfGates(facts);
    return followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context, before, isSpawn } = turn;
        const job = heard.take(turn);
        const { outcome, decision } = context;
        // In a later turn an end may have come that was presumed.
        if (outcome === null || (before === undefined && !isSpawn)) return;
        if (before !== undefined && before.context.outcome !== null) return;
        verdict.exercised();
        const { decidedAt } = job;
        const { settleLimitMs } = facts.config;
        const isSettled = decidedAt !== null && record.takenAt > decidedAt + settleLimitMs;
        const what = contradiction(outcome, decision, job, isSettled);
        if (what !== undefined) verdict.broken(`${record.address} ${what}`, record);
      },
      forgot: (address) => heard.forget(address),
    });
  },
};

/** What is wrong with an outcome in the turn in which it is published. */
function contradiction(
  { status, reason, unconfirmed }: GateOutcome,
  decision: GateJobContext['decision'],
  { datacenters }: HeardJob,
  isSettled: boolean,
): string | undefined {
  const targets = [...datacenters].filter(([, one]) => isHeardTarget(one));
  const missing = targets.filter(([, { ends }]) => ends.length === 0).map(([name]) => name);
  if (String([...unconfirmed].sort()) !== String(missing.sort()))
    return `marks [${unconfirmed}] as unconfirmed, [${missing}] are`;
  if (missing.length > 0 && !isSettled) return `presumed the end of ${missing} too early`;
  if (targets.length === 0) {
    const isExpected =
      decision?.kind === 'cancel' ? status === 'cancelled' : reason === 'noDatacenter';
    return isExpected ? undefined : `ran nowhere and is ${status}`;
  }
  const expected = outcomeOf(targets.map(([, { ends }]) => ends.at(-1) ?? presumed(decision)));
  if (status === expected.status && expected.reasons.has(reason)) return undefined;
  return `published ${status} ${reason}, it is ${expected.status} ${[...expected.reasons]}`;
}

function presumed(decision: GateJobContext['decision']): End {
  return decision?.kind === 'timeout'
    ? { status: 'timedOut', reason: 'global', gateReason: decision.reason }
    : { status: 'cancelled', reason: null, gateReason: null };
}

interface ReadEnd {
  readonly status: string;
  readonly reason: string | null;
}

export const staysAsItWasRead: JobsInvariant = {
  id: 'OUT-2',
  kind: 'safety',
  says: 'Every reader of the outcome of a job reads the same, at the gate and at each datacenter for itself, from the moment it is published; an end that comes later is logged and changes nothing.',
  watch: (_, verdict) => {
    /** Ends by actor: a gate's job, or a datacenter's. */
    const published = new Map<string, ReadEnd>();
    const calls = new Map<string, CallRecord>();
    const publish = (address: string, end: ReadEnd, record: HistoryRecord): void => {
      const known = published.get(address);
      if (known === undefined) published.set(address, end);
      else if (known.status !== end.status || known.reason !== end.reason)
        verdict.broken(
          `${address} ended as ${known.status} ${known.reason} and now is ${end.status} ${end.reason}`,
          record,
        );
    };
    const forgot = (address: string): void => {
      published.delete(address);
    };
    const gates = followTurns<GateJobContext>('gate-job', {
      took({ record, context, before }) {
        const { outcome } = context;
        const was = before?.context;
        if (outcome !== null && outcome !== was?.outcome) publish(record.address, outcome, record);
        if (was === undefined || was.outcome === null || was.datacenters === context.datacenters)
          return;
        for (const [name, now] of Object.entries(context.datacenters)) {
          const isLateEnd = now.final !== null && was.datacenters[name]?.final === null;
          if (!isLateEnd || isFoundElsewhere(now, record.event.type)) continue;
          verdict.exercised();
          if (
            context.lateEvents === was.lateEvents ||
            context.lateEvents.at(-1)?.at !== record.takenAt
          )
            verdict.broken(`${record.address} did not note the late end of ${name}`, record);
        }
      },
      forgot,
    });
    const jobs = followTurns<JobContext>('job', {
      took({ record, context, before }) {
        if (context.endedAt === null || before?.context === context) return;
        publish(record.address, context, record);
      },
      forgot,
    });
    return together(gates, jobs, {
      call: (record) => {
        if (record.request === 'get') calls.set(record.call, record);
      },
      answer: (record) => {
        const call = calls.get(record.call);
        const end = endRead(record);
        if (call === undefined || end === undefined) return;
        const { jobId, to } = call;
        verdict.exercised();
        const isGate = published.has(`gate-job/${jobId}@${to}`);
        publish(`${isGate ? 'gate-job' : 'job'}/${jobId}@${to}`, end, record);
      },
    });
  },
};

/** Nothing is logged of a datacenter that takes no part, nor of one that was looked up at its jobs service. */
const isFoundElsewhere = ({ run }: DatacenterRecord, type: string): boolean =>
  run === 'late' || type === 'status.found';

/** The end in the view that a client got; undefined when it got none, or the job goes on. */
function endRead({ outcome, about }: AnswerRecord): ReadEnd | undefined {
  if (outcome !== 'ok' || typeof about !== 'object' || about === null) return undefined;
  const { status, reason } = about as Partial<ReadEnd>;
  if (status === undefined || status === 'submitted' || status === 'running') return undefined;
  return { status, reason: reason ?? null };
}

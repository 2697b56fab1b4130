/**
 * Reports that a gate takes from datacenters: all they were acknowledged for, nothing old and nothing else.
 */

import type { DatacenterMessage } from '../../../machines/jobs/datacenter/context.ts';
import type { StatusFound } from '../../../machines/jobs/messages/gate.ts';
import type { JobsInvariant } from '../facts.ts';
import type { DatacenterRecord, End, GateJobContext } from './reading-gate.ts';
import { JobsOfGates } from './reading-gate-messages.ts';
import type { HeardDatacenter } from './reading-heard-jobs.ts';
import { eventOf, followTurns, type TurnRecord } from './reading-turns.ts';

const REPORTS: ReadonlySet<string> = new Set([
  'progress.reported',
  'timeout.reported',
  'leader.transferred',
  'final.reported',
  'status.corrected',
]);

/** What a datacenter says about its job, with its origin and its figures. */
function reportIn({ event }: TurnRecord): DatacenterMessage | undefined {
  return REPORTS.has(event.type) ? (event as DatacenterMessage) : undefined;
}

/** The ends and the reports in the record are what is judged, by the messages that the gate has taken. */
export const inventsNothing: JobsInvariant = {
  id: 'GA-5',
  kind: 'safety',
  says: 'A gate, also one whose record was rebuilt from reports, has of each datacenter the end and the timeout that this one told, none that it did not tell, and keeps those that it has acknowledged.',
  watch: (facts, verdict) => {
    const heard = new JobsOfGates(facts);
    return followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context, before, isSpawn } = turn;
        const job = heard.take(turn);
        if (before === undefined && !isSpawn) return;
        if (before?.context.datacenters === context.datacenters) return;
        for (const [name, known] of Object.entries(context.datacenters)) {
          const was = before?.context.datacenters[name];
          const isNews = known.final !== (was?.final ?? null) || known.report !== was?.report;
          if (isNews && !isSpawn) verdict.exercised();
          const one = job.datacenters.get(name);
          const what = one === undefined ? undefined : difference(known, one);
          if (what !== undefined)
            verdict.broken(
              `${record.address} ${what} of ${name} after ${record.event.type}`,
              record,
            );
        }
      },
      forgot: (address) => heard.forget(address),
    });
  },
};

/** What the record has otherwise than it was told; of one that takes no part it has what it likes. */
function difference(
  { final, report, run }: DatacenterRecord,
  one: HeardDatacenter,
): string | undefined {
  if (one.phase === 'out') return undefined;
  const told = one.ends.at(-1);
  const isTold = one.ends.some((end) => isSameEnd(end, final));
  if (final?.status !== told?.status || (final !== null && !isTold))
    return `has the end ${wordsOf(final)} and was told ${wordsOf(told)}`;
  if (final !== null) return run === 'final' ? undefined : `counts as ${run} the end`;
  if (report !== one.report) return `has the timeout ${report} and was told ${one.report}`;
  return (run === 'reported') === (report !== null) ? undefined : `counts as ${run} the report`;
}

const isSameEnd = (one: End, other: End | null): boolean =>
  one.status === other?.status &&
  one.reason === (other.reason ?? null) &&
  one.gateReason === (other.gateReason ?? null);

const wordsOf = (end: End | null | undefined): string =>
  end === null || end === undefined ? 'none' : `${end.status} ${end.reason} ${end.gateReason}`;

/** Who takes part is by what was submitted and what the datacenters have answered. */
export const ignoresStrangers: JobsInvariant = {
  id: 'GA-7',
  kind: 'safety',
  says: 'What a datacenter says that is none of the targets of a job changes nothing about the job, and a job that the gate learns of by a report begins without a decision.',
  watch: (facts, verdict) => {
    const heard = new JobsOfGates(facts);
    return followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context, before, isSpawn } = turn;
        const { decision, outcome, datacenters } = context;
        const said = reportIn(record);
        const one = said && heard.find(record.address)?.datacenters.get(said.datacenter);
        const job = heard.take(turn);
        const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
        if (isSpawn && context.isRebuilt) {
          verdict.exercised();
          if (decision !== null || outcome !== null) broken('was spawned with a decision');
        }
        for (const name of Object.keys(datacenters))
          if (!job.datacenters.has(name)) broken(`has a new target ${name}`);
        if (before === undefined || said === undefined) return;
        if (one !== undefined && !one.hasRefused) return;
        verdict.exercised();
        const was = before.context;
        // Only the time budget can have run out by itself before its own timer said so.
        const isByTime = decision?.kind === 'timeout' && decision.reason === 'overall';
        if (was.decision === null && decision !== null && !isByTime) broken('decided on it');
        if (was.outcome === null && outcome !== null) broken('published an outcome on it');
        for (const [name, now] of Object.entries(datacenters)) {
          const { run, report, leaderFence } = was.datacenters[name] ?? now;
          if (now.run !== run || now.report !== report || now.leaderFence !== leaderFence)
            broken(`changed what it knows of ${name}`);
        }
      },
      forgot: (address) => heard.forget(address),
    });
  },
};

const RANKS = { asked: 0, running: 1, reported: 2, final: 3, late: 4, refused: 4 } as const;

export const goesForward: JobsInvariant = {
  id: 'GA-8',
  kind: 'safety',
  says: 'What a gate knows of a datacenter goes forward: under a smaller fence nothing is taken, under the same fence no earlier report or figure replaces a later one, only a newer leader takes a timeout report back, and only one that was never heard of the job is found not to have it.',
  watch: (_, verdict) => {
    const heard = new Set<string>();
    return followTurns<GateJobContext>('gate-job', {
      forgot: (address) => {
        for (const one of heard) if (one.startsWith(`${address} `)) heard.delete(one);
      },
      took({ record, context, last, before }) {
        const said = reportIn(record);
        if (said !== undefined) heard.add(`${record.address} ${said.datacenter}`);
        if (last === undefined || last.context.datacenters === context.datacenters) return;
        for (const [name, now] of Object.entries(context.datacenters)) {
          const was = last.context.datacenters[name];
          if (was === undefined || was === now) continue;
          verdict.exercised();
          // A gate that was rebuilt takes all for running before it has asked them.
          const isAbsent =
            isFoundAbsent(record, name) &&
            now.run === 'refused' &&
            !heard.has(`${record.address} ${name}`);
          const what = isAbsent ? undefined : step(was, now);
          if (what !== undefined) verdict.broken(`${record.address}: ${name} ${what}`, record);
        }
        if (said === undefined || before === undefined) return;
        const known = before.context.datacenters[said.datacenter];
        const now = context.datacenters[said.datacenter];
        if (known === undefined || now === undefined || said.leaderFence >= known.leaderFence)
          return;
        const isSame =
          now.lastSeenAt === known.lastSeenAt &&
          now.run === known.run &&
          now.elapsedMs === known.elapsedMs;
        if (!isSame) verdict.broken(`${record.address} took a stale ${said.type}`, record);
      },
    });
  },
};

/** The jobs service of the datacenter has said that there is no such job. */
function isFoundAbsent(record: TurnRecord, datacenter: string): boolean {
  const told = eventOf<StatusFound>(record, 'status.found');
  return told?.datacenter === datacenter && told.found === null;
}

/** What is wrong with how a datacenter's record has changed. */
function step(was: DatacenterRecord, now: DatacenterRecord): string | undefined {
  if (now.leaderFence < was.leaderFence) return `went back to fence ${now.leaderFence}`;
  const isNewer = now.leaderFence > was.leaderFence;
  const isTakenBack = isNewer && was.run === 'reported' && now.run === 'running';
  const isFixed = was.run === 'late' || was.run === 'refused';
  if (RANKS[now.run] < RANKS[was.run] && !isTakenBack) return `went from ${was.run} to ${now.run}`;
  if (isFixed ? now.run !== was.run : RANKS[now.run] === 4 && was.run !== 'asked')
    return `went from ${was.run} to ${now.run}`;
  if (isNewer) return undefined;
  if (now.reportSeq < was.reportSeq) return `went back to report ${now.reportSeq}`;
  return now.elapsedMs < was.elapsedMs ? `went back to ${now.elapsedMs} ms elapsed` : undefined;
}

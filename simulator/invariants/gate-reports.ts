/** What a gate takes from datacenters: all they were acknowledged for, nothing old and nothing else. */

import type { DatacenterMessage } from '../../machines/jobs/gate-job/taking.ts';
import type { StatusFound } from '../../machines/jobs/messages/gate.ts';
import type { JobsInvariant } from '../jobs/facts.ts';
import { type DatacenterRecord, type GateJobContext, isTarget } from './reading-gate.ts';
import { followTurns, type TurnRecord } from './reading-turns.ts';

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

const isOutcome = (status: string | undefined): boolean =>
  status !== undefined && status !== 'submitted' && status !== 'running';

/** The end that the event tells of, in so many words. */
function endTold({ event }: TurnRecord): string | undefined {
  const { type } = event;
  if (type === 'status.found') return (event as StatusFound).found?.status;
  if (type !== 'final.reported' && type !== 'status.corrected') return undefined;
  const { status } = event as { readonly type: string; readonly status?: string };
  return isOutcome(status) ? status : undefined;
}

/** The timeout that the event tells of. */
function timeoutTold({ event }: TurnRecord): string | null {
  const said = event as DatacenterMessage;
  if (said.type === 'timeout.reported') return said.reason;
  return said.type === 'status.corrected' && said.figures.locallyTimedOut ? said.localReason : null;
}

export const inventsNothing: JobsInvariant = {
  id: 'GA-5',
  kind: 'safety',
  says: 'A gate, also one whose record was built anew from reports, has of each datacenter the end and the timeout that this one told, none that it did not tell, and keeps those that it has acknowledged.',
  watch: (_, verdict) =>
    followTurns<GateJobContext>('gate-job', {
      took({ record, context, before, isBirth }) {
        const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
        if (isBirth)
          for (const [name, known] of Object.entries(context.datacenters))
            if (known.final !== null || known.report !== null) broken(`knows of ${name} at birth`);
        if (before === undefined || before.context.datacenters === context.datacenters) return;
        const { datacenter } = record.event as { readonly datacenter?: string };
        for (const [name, known] of Object.entries(context.datacenters)) {
          const was = before.context.datacenters[name];
          if (was === undefined || was === known) continue;
          const isTold = name === datacenter;
          if (known.final?.status !== was.final?.status) {
            verdict.exercised();
            if (!isTold || known.final?.status !== endTold(record))
              broken(`has an end of ${name} that it was not told: ${known.final?.status}`);
          }
          if (known.report !== was.report && known.report !== null) {
            verdict.exercised();
            if (!isTold || known.report !== timeoutTold(record))
              broken(`has a timeout of ${name} that it was not told: ${known.report}`);
          }
        }
        const said = reportIn(record);
        if (said === undefined) return;
        const lost = forgotten(said, before.context, context);
        if (lost !== undefined) broken(`took ${said.type} of ${said.datacenter}: ${lost}`);
      },
    }),
};

/** What of a message that counts is not in the record. */
function forgotten(
  said: DatacenterMessage,
  was: GateJobContext,
  { datacenters }: GateJobContext,
): string | undefined {
  const known = was.datacenters[said.datacenter];
  const now = datacenters[said.datacenter];
  if (known === undefined || now === undefined) return undefined;
  if (!isTarget(known) || said.leaderFence < known.leaderFence) return undefined;
  if (said.type === 'final.reported' && now.final === null) return 'it has no end of it';
  if (said.type !== 'timeout.reported' || now.final !== null) return undefined;
  const isKept = now.phase === 'reported' && (now.report === said.reason || known.report !== null);
  return isKept ? undefined : 'it is not reported';
}

export const ignoresStrangers: JobsInvariant = {
  id: 'GA-7',
  kind: 'safety',
  says: 'What a datacenter says that is none of the targets of a job changes nothing about the job, and a job that the gate learns of by a report begins without a decision.',
  watch: (_, verdict) =>
    followTurns<GateJobContext>('gate-job', {
      took({ record, context, before, isBirth }) {
        const { decision, outcome, datacenters } = context;
        const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
        if (isBirth && context.isRebuilt) {
          verdict.exercised();
          if (decision !== null || outcome !== null) broken('was born with a decision');
        }
        if (before === undefined) return;
        const was = before.context;
        for (const name of Object.keys(datacenters))
          if (was.datacenters[name] === undefined) broken(`has a new target ${name}`);
        const said = reportIn(record);
        if (said === undefined) return;
        const known = was.datacenters[said.datacenter];
        if (known !== undefined && known.phase !== 'refused') return;
        verdict.exercised();
        // Only the time budget can have run out by itself before its own timer said so.
        const isByTime = decision?.kind === 'timeout' && decision.reason === 'overall';
        if (was.decision === null && decision !== null && !isByTime) broken('decided on it');
        if (was.outcome === null && outcome !== null) broken('published an outcome on it');
        for (const [name, now] of Object.entries(datacenters)) {
          const { phase, report, leaderFence } = was.datacenters[name] ?? now;
          if (now.phase !== phase || now.report !== report || now.leaderFence !== leaderFence)
            broken(`changed what it knows of ${name}`);
        }
      },
    }),
};

const RANKS = { asked: 0, running: 1, reported: 2, final: 3, late: 4, refused: 4 } as const;

export const goesForward: JobsInvariant = {
  id: 'GA-8',
  kind: 'safety',
  says: 'What a gate knows of a datacenter goes forward: under a smaller fence nothing is taken, under the same fence no earlier report or figure replaces a later one, and only a newer leader takes a timeout report back.',
  watch: (_, verdict) =>
    followTurns<GateJobContext>('gate-job', {
      took({ record, context, last, before }) {
        if (last === undefined || last.context.datacenters === context.datacenters) return;
        for (const [name, now] of Object.entries(context.datacenters)) {
          const was = last.context.datacenters[name];
          if (was === undefined || was === now) continue;
          verdict.exercised();
          const what = step(was, now);
          if (what !== undefined) verdict.broken(`${record.address}: ${name} ${what}`, record);
        }
        const said = reportIn(record);
        if (said === undefined || before === undefined) return;
        const known = before.context.datacenters[said.datacenter];
        const now = context.datacenters[said.datacenter];
        if (known === undefined || now === undefined || said.leaderFence >= known.leaderFence)
          return;
        const isSame =
          now.lastSeenAt === known.lastSeenAt &&
          now.phase === known.phase &&
          now.elapsedMs === known.elapsedMs;
        if (!isSame) verdict.broken(`${record.address} took a stale ${said.type}`, record);
      },
    }),
};

/** What is wrong with how a datacenter's record has changed. */
function step(was: DatacenterRecord, now: DatacenterRecord): string | undefined {
  if (now.leaderFence < was.leaderFence) return `went back to fence ${now.leaderFence}`;
  const isNewer = now.leaderFence > was.leaderFence;
  const isTakenBack = isNewer && was.phase === 'reported' && now.phase === 'running';
  const isFixed = was.phase === 'late' || was.phase === 'refused';
  if (RANKS[now.phase] < RANKS[was.phase] && !isTakenBack)
    return `went from ${was.phase} to ${now.phase}`;
  if (isFixed ? now.phase !== was.phase : RANKS[now.phase] === 4 && was.phase !== 'asked')
    return `went from ${was.phase} to ${now.phase}`;
  if (isNewer) return undefined;
  if (now.reportSeq < was.reportSeq) return `went back to report ${now.reportSeq}`;
  return now.elapsedMs < was.elapsedMs ? `went back to ${now.elapsedMs} ms elapsed` : undefined;
}

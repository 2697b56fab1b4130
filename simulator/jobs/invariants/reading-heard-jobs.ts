/**
 * A job as a gate has to know it: how it begins, by what was submitted and the configuration, or by the record
 * where turns were not seen; what it makes of the messages that it takes is in reading-gate-messages.ts.
 */

import type { GateJobInput } from '../../../machines/jobs/gate-job.ts';
import type { JobTerms } from '../../../machines/jobs/messages/client.ts';
import type { Quorum } from '../../../machines/jobs/words.ts';
import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import type { End, GateJobContext, GateTurn } from './reading-gate.ts';

/** `out`: it takes no part, because it did not take the job, or too late. */
export type HeardPhase = 'asked' | 'running' | 'reported' | 'final' | 'out';

export interface HeardDatacenter {
  phase: HeardPhase;
  leaderFence: number;
  reportSeq: number;
  elapsedMs: number;
  extensionsMs: number;
  holdUntil: number;
  /** Time since progress in the last figures; null before the first. */
  sinceProgressMs: number | null;
  queued: boolean;
  report: string | null;
  /** The ends that it told; the last one counts. */
  ends: readonly End[];
  /** It has obeyed the decision that stands. */
  hasObeyed: boolean;
  /** It said that it does not take the job, or was never heard and is found not to have it. */
  hasRefused: boolean;
  heardAt: number;
}

/** What the gate has to go by: what was submitted, and where that says nothing the configuration. */
export interface HeardTerms {
  readonly timeoutMs: number;
  readonly quorum: Quorum;
  readonly allStuckThresholdMs: number;
  readonly silentAfterMs: number;
}

/** A job at a gate, by the clock of the node that took the last turn. */
export interface HeardJob {
  submittedAt: number;
  /** When the last datacenter that has too much to do, or any after the gate was away, is asked again; 0 for none. */
  fullUntil: number;
  readonly datacenters: Map<string, HeardDatacenter>;
  readonly terms: HeardTerms;
  /** When the decision that stands was made; null while none does. */
  decidedAt: number | null;
  /** The message, or the event, that moved the time budget's deadline last, and to when. */
  movedBy: string;
  movedTo: number;
  /** When the last turn was taken. */
  asOf: number;
}

const NEW: HeardDatacenter = {
  phase: 'asked',
  leaderFence: 0,
  reportSeq: 0,
  elapsedMs: 0,
  extensionsMs: 0,
  holdUntil: 0,
  sinceProgressMs: null,
  queued: false,
  report: null,
  ends: [],
  hasObeyed: false,
  hasRefused: false,
  heardAt: 0,
};

export const isHeardRunning = ({ phase }: HeardDatacenter): boolean =>
  phase === 'running' || phase === 'reported';

/** It took the job in time. */
export const isHeardTarget = (one: HeardDatacenter): boolean =>
  isHeardRunning(one) || one.phase === 'final';

/** It has told that the job timed out there. */
export const hasTimedOut = ({ ends }: HeardDatacenter): boolean =>
  ends.at(-1)?.status === 'timedOut';

/** The last moment at which the time budget is not used up. */
export function budgetEnd({ submittedAt, datacenters, terms }: HeardJob): number {
  let extensionsMs = 0;
  let holdUntil = 0;
  for (const one of datacenters.values()) {
    if (!isHeardRunning(one)) continue;
    extensionsMs = Math.max(extensionsMs, one.extensionsMs);
    holdUntil = Math.max(holdUntil, one.holdUntil);
  }
  return Math.max(submittedAt + terms.timeoutMs + extensionsMs, holdUntil);
}

/** As it was spawned: with what was submitted, or with what a datacenter told a gate that had lost it. */
export function spawned({ record, context }: GateTurn, config: JobsConfiguration): HeardJob {
  const { takenAt } = record;
  const { input } = record.event as { readonly input?: GateJobInput };
  const phase = context.isRebuilt ? ('running' as const) : ('asked' as const);
  const names = Object.keys(context.datacenters);
  return {
    submittedAt: input === undefined ? context.submittedAt : takenAt - ageAtSpawn(input),
    fullUntil: 0,
    datacenters: new Map(names.map((name) => [name, { ...NEW, phase, heardAt: takenAt }])),
    terms: termsOf(input === undefined ? context.terms : termsIn(input), config),
    decidedAt: null,
    movedBy: 'its spawn',
    movedTo: 0,
    asOf: 0,
  };
}

const termsIn = (input: GateJobInput): JobTerms =>
  'rebuiltFrom' in input ? input.rebuiltFrom.terms : input.terms;

const ageAtSpawn = (input: GateJobInput): number =>
  'rebuiltFrom' in input ? input.rebuiltFrom.figures.elapsedMs : (input.submittedElapsedMs ?? 0);

const termsOf = (terms: JobTerms, config: JobsConfiguration): HeardTerms => ({
  timeoutMs: terms.timeoutMs,
  quorum: terms.datacenterTimeoutQuorum ?? config.datacenterTimeoutQuorum,
  allStuckThresholdMs: terms.allStuckThresholdMs ?? config.allStuckThresholdMs,
  silentAfterMs: config.silentAfterMs,
});

/** After turns that nobody saw. */
export function believed(
  { submittedAt, askedSince = 0, datacenters, terms, decision }: GateJobContext,
  config: JobsConfiguration,
): HeardJob {
  const known = Object.entries(datacenters).map(([name, record]): [string, HeardDatacenter] => {
    const { run, final, lastSeenAt, ...rest } = record;
    const isOut = run === 'late' || run === 'refused';
    return [
      name,
      {
        ...NEW,
        ...rest,
        phase: isOut ? 'out' : run,
        ends: final === null ? [] : [final],
        hasObeyed: record.decision === 'accepted',
        hasRefused: run === 'refused',
        heardAt: lastSeenAt,
      },
    ];
  });
  const fullUntil = Math.max(
    askedSince,
    ...Object.values(datacenters).map((one) => one.fullUntil ?? 0),
  );
  return {
    submittedAt,
    fullUntil,
    datacenters: new Map(known),
    terms: termsOf(terms, config),
    decidedAt: decision?.at ?? null,
    movedBy: 'turns that nobody saw',
    movedTo: 0,
    asOf: 0,
  };
}

/** A new holder whose clock is behind: what was noted keeps its age. */
export function moveBack(job: HeardJob, was: GateJobContext, at: number): void {
  const heard = [...job.datacenters.values()].map(({ heardAt }) => heardAt);
  const latest = Math.max(job.submittedAt, was.bornAt, job.decidedAt ?? 0, ...heard);
  const byMs = Math.max(0, latest - at);
  if (byMs === 0) return;
  job.submittedAt -= byMs;
  if (job.decidedAt !== null) job.decidedAt -= byMs;
  if (job.fullUntil > 0) job.fullUntil -= byMs;
  for (const one of job.datacenters.values()) {
    one.heardAt -= byMs;
    one.holdUntil = Math.max(0, one.holdUntil - byMs);
  }
}

/**
 * Decisions that a gate must not take while it only knows what was: the word that would change them is on
 * its way, and its sender is in touch again.
 *
 * Judged from messages alone: when each was said, when each copy left, when the gate took it.
 */

import type { JobsInvariant } from '../facts.ts';
import { rulesDue } from './gate-rules-by-messages.ts';
import { comesLate, Gaps, heardUntil, running, WAITED_MS } from './reading-gaps.ts';
import type { GateJobContext, GateTurn } from './reading-gate.ts';
import { JobsOfGates } from './reading-gate-messages.ts';
import { RETRY_MAX_MS } from './reading-healed.ts';
import { budgetEnd, type HeardDatacenter, type HeardJob } from './reading-heard-jobs.ts';
import { followTurns, together } from './reading-turns.ts';
import { type Word, Words } from './reading-words.ts';

/** Clocks run up to a hundredth too fast. */
const PACE = 0.98;

/** It would end the job there, or move the deadline, had the gate taken it, and no later word has overtaken it. */
function wouldChange({ event }: Word, one: HeardDatacenter): boolean {
  const { type, figures, leaderFence } = event as {
    readonly type: string;
    readonly figures?: { readonly elapsedMs: number; readonly extensionsMs: number };
    readonly leaderFence?: number;
  };
  if (type === 'final.reported') return true;
  if (figures === undefined) return false;
  const isOld = leaderFence === one.leaderFence && figures.elapsedMs < one.elapsedMs;
  return !isOld && figures.extensionsMs > one.extensionsMs;
}

const isDeclaration = ({ context, before }: GateTurn): boolean =>
  before !== undefined && context.declared > before.context.declared;

const isByQuorum = ({ decision }: GateJobContext): boolean =>
  decision?.kind === 'timeout' && decision.reason === 'datacenterTimeout';

export const decidesWhenCaughtUp: JobsInvariant = {
  id: 'GA-10',
  kind: 'safety',
  says: 'A gate that was restarted, comes late to the end of the budget, or hears again of a datacenter that was silent, declares nothing while a word that would change it, said before, is on its way from there; and nothing before all are heard, or two reports are missing.',
  watch: (facts, verdict) => {
    const words = new Words();
    const heard = new JobsOfGates(facts);
    const gaps = new Gaps();
    const gates = followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context } = turn;
        const { address, atMs, takenAt } = record;
        const known = heard.find(address);
        const was = known && { dueAt: budgetEnd(known), asOf: known.asOf };
        const job = heard.take(turn);
        const listensMs = 2 * (context.rules?.reportIntervalMs ?? 0);
        if (was !== undefined && comesLate(was, job, turn))
          gaps.late(address, heardUntil(was.dueAt, job), atMs, listensMs / PACE);
        const isAgain = gaps.take(turn);
        const held = heldUp(turn, job, words, gaps);
        if (isAgain && held.length > 0) verdict.exercised();
        if (!isDeclaration(turn)) return;
        const patienceMs = listensMs * PACE;
        const unheard = running(job).flatMap((name) => {
          const gap = gaps.of(address, name);
          if (gap === undefined || gap.contactMs !== undefined) return [];
          return atMs < gap.sinceMs + patienceMs ? [{ name, sinceMs: gap.sinceMs }] : [];
        });
        const awaited = held.filter(({ contactMs }) => atMs < contactMs + patienceMs);
        const names = [...unheard, ...awaited].map(({ name }) => name);
        if (isByQuorum(context) && isMetWithout(job, names, takenAt)) return;
        for (const { name, sinceMs } of unheard)
          verdict.broken(
            `${address} declared ${atMs - sinceMs} ms after a restart, and had not heard ${name} since`,
            record,
          );
        for (const { name, word, contactMs } of awaited)
          verdict.broken(
            `${address} declared while ${word.event.type} of ${name} was on its way, said ${atMs - word.saidMs} ms before; ${name} was heard again ${atMs - contactMs} ms before`,
            record,
          );
      },
      forgot: (address) => {
        heard.forget(address);
        gaps.forget(address);
      },
    });
    return together(words.watcher(), gates);
  },
};

/** Enough of the others have timed out, whatever these have to say: they vote against it, with any credit. */
function isMetWithout(job: HeardJob, names: readonly string[], at: number): boolean {
  const silent = {
    phase: 'running',
    report: null,
    extensionsMs: Number.POSITIVE_INFINITY,
  } as const;
  return rulesDue(withPlaces(job, names, silent), at).has('datacenterTimeout');
}

interface HeldUp {
  readonly name: string;
  readonly word: Word;
  readonly contactMs: number;
}

/** What was said before its datacenter was heard again, counts, and is not taken yet. */
function heldUp(
  { record: { address } }: GateTurn,
  job: HeardJob,
  words: Words,
  gaps: Gaps,
): readonly HeldUp[] {
  return running(job).flatMap((name) => {
    const contactMs = gaps.of(address, name)?.contactMs;
    const one = job.datacenters.get(name);
    if (contactMs === undefined || one === undefined) return [];
    const under = words.underWay(jobOf(address, name), address);
    const before = under.filter((word) => word.saidMs < contactMs && wouldChange(word, one));
    return before.map((word) => ({ name, word, contactMs }));
  });
}

export const decidesNothingEnded: JobsInvariant = {
  id: 'GA-11',
  kind: 'safety',
  says: 'A gate declares nothing about a job that has ended in every datacenter that it counts as running, once each of them has been in touch with it since.',
  watch: (facts, verdict) => {
    const words = new Words();
    const heard = new JobsOfGates(facts);
    const graceMs = 2 * facts.config.reportIntervalMs + RETRY_MAX_MS + 2 * facts.deltaMs;
    const gates = followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context } = turn;
        const { address, atMs } = record;
        const job = heard.take(turn);
        const isUndecided = context.decision === null && context.outcome === null;
        const alive = running(job);
        if (alive.length === 0 || !(isUndecided || isDeclaration(turn))) return;
        const ends = alive.map((name) => endSaid(words, jobOf(address, name), address));
        // It has ended everywhere, and the gate has heard of each datacenter since, but not that.
        if (!ends.every((one) => one !== undefined && one.contactMs > one.saidMs)) return;
        verdict.exercised();
        const isOver = ends.every((one) => one !== undefined && atMs - one.saidMs > graceMs);
        if (isOver && isDeclaration(turn))
          verdict.broken(
            `${address} declared, and the job had ended in ${alive.join(', ')}`,
            record,
          );
      },
      forgot: (address) => heard.forget(address),
    });
    return together(words.watcher(), gates);
  },
};

/** When a datacenter said that the job has ended there, and when the gate heard of it last. */
function endSaid(words: Words, from: string, to: string) {
  const end = words.of(from, to).find(({ event }) => event.type === 'final.reported');
  return end && { saidMs: end.saidMs, contactMs: words.takenMs(from, to) };
}

/** `gate-job/j1@gate-1` and `A`: `job/j1@A`. */
const jobOf = (address: string, datacenter: string): string =>
  `${address.slice('gate-'.length, address.lastIndexOf('@'))}@${datacenter}`;

export const countsOnlyWhoRuns: JobsInvariant = {
  id: 'GA-12',
  kind: 'safety',
  says: 'A report of a timeout counts only for a datacenter that still runs the job: not one that waited to be sent, or was held up on its way, when its datacenter had ended the job more than a second before it was taken.',
  watch: (facts, verdict) => {
    const words = new Words();
    const heard = new JobsOfGates(facts);
    const gates = followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context } = turn;
        const { address, takenAt } = record;
        const job = heard.take(turn);
        const isUndecided = context.decision === null && context.outcome === null;
        const old = pastReporters(address, job, words);
        if (old.length === 0) return;
        // Without those that have ended, nothing would be due.
        if (isUndecided || isDeclaration(turn)) verdict.exercised();
        if (!isDeclaration(turn) || !isByQuorum(context)) return;
        if (
          rulesDue(withPlaces(job, old, { phase: 'final', ends: [] }), takenAt).has(
            'datacenterTimeout',
          )
        )
          return;
        verdict.broken(
          `${address} counted the report of ${old.join(', ')}, where the job had ended before that report was taken`,
          record,
        );
      },
      forgot: (address) => heard.forget(address),
    });
    return together(words.watcher(), gates);
  },
};

/** Reporters that the gate counts, and whose end was said well before the report that it took had come. */
function pastReporters(address: string, job: HeardJob, words: Words): readonly string[] {
  return running(job).filter((name) => {
    if (job.datacenters.get(name)?.phase !== 'reported') return false;
    const from = jobOf(address, name);
    const all = words.of(from, address);
    const report = all.find(({ event, isTaken }) => event.type === 'timeout.reported' && isTaken);
    const end = all.find(({ event, isTaken }) => event.type === 'final.reported' && !isTaken);
    if (report?.leftMs === undefined || report.takenMs === undefined || end === undefined)
      return false;
    const hasWaited = report.leftMs - report.saidMs > WAITED_MS && end.saidMs < report.leftMs;
    return hasWaited || (report.heldMs > WAITED_MS && end.saidMs < report.takenMs - WAITED_MS);
  });
}

function withPlaces(
  job: HeardJob,
  names: readonly string[],
  changed: Partial<HeardDatacenter>,
): HeardJob {
  const datacenters = [...job.datacenters].map(([name, one]): [string, HeardDatacenter] => [
    name,
    names.includes(name) ? { ...one, ...changed } : one,
  ]);
  return { ...job, datacenters: new Map(datacenters) };
}

export const catchingUpInvariants: readonly JobsInvariant[] = [
  decidesWhenCaughtUp,
  decidesNothingEnded,
  countsOnlyWhoRuns,
];

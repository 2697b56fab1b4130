/** The rules of a gate, said a second time and asked of what it was told. */

import type { GateReason } from '../../../machines/jobs/words.ts';
import {
  budgetEnd,
  type HeardDatacenter,
  type HeardJob,
  type HeardTerms,
  hasTimedOut,
  isHeardRunning,
} from './reading-heard-jobs.ts';

/** The rules that are due at that moment by what the gate was told. Comparisons are strict. */
export function rulesDue(job: HeardJob, at: number): ReadonlySet<GateReason> {
  const due = new Set<GateReason>();
  const { terms } = job;
  const all = [...job.datacenters.values()];
  if (!all.some(isHeardRunning)) return due;
  if (at > budgetEnd(job)) due.add('overall');
  if (isQuorumMet(all, terms.quorum)) due.add('datacenterTimeout');
  const awaited = all.filter((one) => isHeardRunning(one) || one.phase === 'asked');
  if (awaited.every((one) => isStill(one, terms.allStuckThresholdMs) && !isSilent(one, terms, at)))
    due.add('allDatacentersStuck');
  return due;
}

const isSilent = (
  { heardAt }: HeardDatacenter,
  { silentAfterMs }: HeardTerms,
  at: number,
): boolean => at - heardAt > silentAfterMs;

/** It has said so itself, and waits for no worker. */
const isStill = ({ sinceProgressMs, queued }: HeardDatacenter, thresholdMs: number): boolean =>
  sinceProgressMs !== null && sinceProgressMs > thresholdMs && !queued;

/** Nothing would move anywhere, did silence count: what a gate must not decide by. */
export function isOnlySilent(job: HeardJob, at: number): boolean {
  const { terms } = job;
  const awaited = [...job.datacenters.values()].filter(
    (one) => isHeardRunning(one) || one.phase === 'asked',
  );
  return (
    awaited.length > 0 &&
    awaited.every((one) => isStill(one, terms.allStuckThresholdMs)) &&
    awaited.some((one) => isSilent(one, terms, at))
  );
}

function isQuorumMet(all: readonly HeardDatacenter[], quorum: HeardTerms['quorum']): boolean {
  const voters = all.filter(
    (one) => isHeardRunning(one) || one.phase === 'asked' || hasTimedOut(one),
  );
  const votes = voters.filter(
    (one) => hasTimedOut(one) || (one.phase === 'reported' && !isDeferred(one, all)),
  ).length;
  if (quorum === 'all') return votes === voters.length;
  return quorum === 'majority' ? votes * 2 > voters.length : votes > 0;
}

function isDeferred(reporter: HeardDatacenter, all: readonly HeardDatacenter[]): boolean {
  return (
    reporter.report === 'overall' &&
    all.some(
      (other) =>
        other !== reporter && isHeardRunning(other) && other.extensionsMs > reporter.extensionsMs,
    )
  );
}

/** What each datacenter has said, for people: all that a decision is made of. */
export function inputsOf(job: HeardJob, at: number): string {
  const { terms } = job;
  const dueAt = budgetEnd(job);
  const each = [...job.datacenters].map(([name, one]) => {
    const progress = one.sinceProgressMs === null ? 'never' : `${one.sinceProgressMs} ms ago`;
    const hold = one.holdUntil === 0 ? '' : `, held for ${one.holdUntil - at} ms`;
    const report = one.report === null ? '' : `, reported ${one.report}`;
    return `${name} ${one.phase}${report}, fence ${one.leaderFence}, heard ${at - one.heardAt} ms ago, progress ${progress}${one.queued ? ', queued' : ''}, credit ${one.extensionsMs} ms${hold}`;
  });
  const budget = `budget ${terms.timeoutMs} ms since ${at - job.submittedAt} ms, over in ${dueAt - at} ms (last moved by ${job.movedBy})`;
  return `${budget}; ${each.join('; ')}`;
}

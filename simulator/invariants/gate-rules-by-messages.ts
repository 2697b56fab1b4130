/** The rules of a gate, said a second time and asked of what it was told. */

import type { GateReason } from '../../machines/jobs/words.ts';
import type { GateJobContext } from './reading-gate.ts';
import {
  budgetEnd,
  type HeardDatacenter,
  type HeardJob,
  isHeardRunning,
} from './reading-gate-messages.ts';

/** The rules that are due at that moment by what the gate was told. Comparisons are strict. */
export function rulesDue(
  job: HeardJob,
  { terms, rules }: GateJobContext,
  at: number,
): ReadonlySet<GateReason> {
  const due = new Set<GateReason>();
  const all = [...job.datacenters.values()];
  if (!all.some(isHeardRunning) || rules === null) return due;
  if (at > budgetEnd(job, terms.timeoutMs)) due.add('overall');
  if (isQuorumMet(all, terms.datacenterTimeoutQuorum ?? rules.quorum)) due.add('datacenterTimeout');
  const awaited = all.filter((one) => isHeardRunning(one) || one.phase === 'asked');
  if (awaited.every((one) => isStill(one, rules.allStuckThresholdMs) && !isSilent(one, rules, at)))
    due.add('allDatacentersStuck');
  return due;
}

const isSilent = (
  { heardAt }: HeardDatacenter,
  { silentAfterMs }: { readonly silentAfterMs: number },
  at: number,
): boolean => at - heardAt > silentAfterMs;

/** It has said so itself, and waits for no worker. */
const isStill = ({ sinceProgressMs, queued }: HeardDatacenter, thresholdMs: number): boolean =>
  sinceProgressMs !== null && sinceProgressMs > thresholdMs && !queued;

/** Nothing would move anywhere, did silence count: what a gate must not decide by. */
export function isOnlySilent(job: HeardJob, { rules }: GateJobContext, at: number): boolean {
  if (rules === null) return false;
  const awaited = [...job.datacenters.values()].filter(
    (one) => isHeardRunning(one) || one.phase === 'asked',
  );
  return (
    awaited.length > 0 &&
    awaited.every((one) => isStill(one, rules.allStuckThresholdMs)) &&
    awaited.some((one) => isSilent(one, rules, at))
  );
}

function isQuorumMet(all: readonly HeardDatacenter[], quorum: 'any' | 'majority' | 'all'): boolean {
  const voters = all.filter(
    (one) => isHeardRunning(one) || one.phase === 'asked' || one.hasTimedOut,
  );
  const votes = voters.filter(
    (one) => one.hasTimedOut || (one.phase === 'reported' && !isDeferred(one, all)),
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
export function inputsOf(job: HeardJob, { terms }: GateJobContext, at: number): string {
  const dueAt = budgetEnd(job, terms.timeoutMs);
  const each = [...job.datacenters].map(([name, one]) => {
    const progress = one.sinceProgressMs === null ? 'never' : `${one.sinceProgressMs} ms ago`;
    const hold = one.holdUntil === 0 ? '' : `, held for ${one.holdUntil - at} ms`;
    const report = one.report === null ? '' : `, reported ${one.report}`;
    return `${name} ${one.phase}${report}, fence ${one.leaderFence}, heard ${at - one.heardAt} ms ago, progress ${progress}${one.queued ? ', queued' : ''}, credit ${one.extensionsMs} ms${hold}`;
  });
  const budget = `budget ${terms.timeoutMs} ms since ${at - job.submittedAt} ms, over in ${dueAt - at} ms (last moved by ${job.movedBy})`;
  return `${budget}; ${each.join('; ')}`;
}

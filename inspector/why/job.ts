/**
 * Explanation of a job of one datacenter: its end, the sums of its time, and who was silent.
 *
 * The cause is read from what the actors around it saw, and not from the job's own word for it: `overall` says that
 * the budget was spent, and whether work went on, a worker was silent or none ever began is in the others' records.
 */

import type { BudgetLine, SilentLine, Why, WhyCause } from '../protocol.ts';
import type { WhyCase } from './evidence.ts';
import { budgetOf, factsOf, type JobFacts } from './job-sums.ts';
import { lateOf, silentOf, workflowsOf } from './job-workers.ts';
import { clockText, shortAddress, spanText } from './words.ts';

export interface JobFindings {
  readonly cause: WhyCause;
  readonly reason?: string;
  readonly endedAt?: number;
  readonly verdict: string;
  readonly budget?: readonly BudgetLine[];
  readonly budgetMs?: number;
  readonly usedMs?: number;
  readonly silent?: readonly SilentLine[];
  readonly moreTime?: string;
  readonly advice: Why['advice'];
  readonly gaps?: readonly string[];
}

/** Undefined where the context is not that of a job. */
export function whyJob(found: WhyCase): JobFindings | undefined {
  const facts = factsOf(found.subject);
  if (facts === undefined) return undefined;
  const { budget, budgetMs } = budgetOf(found, facts);
  const endedAt = facts.endedAt ?? undefined;
  const until = endedAt ?? found.at;
  const usedMs = Math.max(0, until - facts.baseAt);
  const sums = { budget, budgetMs, usedMs, ...(endedAt !== undefined && { endedAt }) };
  if (endedAt === undefined) return { ...sums, ...aliveJob(found, facts, budgetMs) };
  if (facts.status === 'timedOut') return { ...sums, ...timedOut(found, facts, budgetMs, until) };
  const name = shortAddress(found.subject.address);
  if (facts.status === 'completed')
    return {
      ...sums,
      cause: 'completed',
      verdict: `${name} completed after ${spanText(usedMs)} of ${spanText(budgetMs)}.`,
      advice: [],
    };
  if (facts.status === 'cancelled')
    return {
      ...sums,
      cause: 'cancelled',
      verdict: `${name} was cancelled after ${spanText(usedMs)}${cancelledBy(found)}.`,
      advice: [],
    };
  const reason = facts.reason ?? facts.failure ?? undefined;
  const cause = failedWorkflow(found);
  return {
    ...sums,
    cause: 'failed',
    ...(reason !== undefined && { reason }),
    verdict: `${name} failed after ${spanText(usedMs)}: ${reason ?? 'a workflow failed'}${cause}.`,
    advice:
      reason === 'dispatchExhausted'
        ? ['No worker took it: see which handlers and cores your workers have.']
        : [],
  };
}

function timedOut(found: WhyCase, facts: JobFacts, budgetMs: number, endedAt: number) {
  const name = shortAddress(found.subject.address);
  const flows = workflowsOf(found, endedAt);
  const silent = silentOf(found, facts, flows, endedAt);
  const late = lateOf(found, endedAt);
  const isStuck = facts.localReason === 'stuck' || facts.reason === 'stuck';
  const reason = facts.reason ?? facts.localReason ?? 'overall';
  const by = authorityText(facts, reason);
  const moreTime = late && `${late.what} came ${spanText(late.at - endedAt)} after the end.`;
  const base = { reason, silent, ...(moreTime !== undefined && { moreTime }) };
  const neverBegun = flows.length > 0 && flows.every(({ dispatched }) => dispatched === 0);
  const lostWorker = silent.find(({ who }) => who.startsWith('worker-health/'));
  const gapMs = endedAt - facts.lastProgressAt;
  if (neverBegun)
    return {
      ...base,
      cause: 'neverStarted' as const,
      verdict: `${name} timed out because no worker ever began any of its work within ${spanText(budgetMs)}${by}.`,
      advice: [
        'Add workers or cores for its handlers, or give it a longer timeout: time in the queue counts.',
      ],
    };
  if (lostWorker !== undefined)
    return {
      ...base,
      cause: 'silentWorker' as const,
      verdict: `${name} timed out because ${lostWorker.text}${isStuck ? `, and nothing got further for ${spanText(gapMs)}` : `, and its budget of ${spanText(budgetMs)} passed meanwhile`}${by}.`,
      advice: [
        `Look at worker ${workerName(lostWorker.who)}: whether its process lives and reaches its manager.`,
        'Allow another attempt and a budget that has room for one.',
      ],
    };
  if (isStuck)
    return {
      ...base,
      cause: 'noProgress' as const,
      verdict: `${name} timed out because its work reported no progress for ${spanText(gapMs)}, beyond ${spanText(facts.stuckThresholdMs)}, though its worker was there${by}.`,
      advice: [
        'Report progress from the handler more often than the threshold, or find what it hangs on.',
        ...(facts.longestGapMs !== undefined && facts.longestGapMs > 0
          ? [
              `The longest gap before was ${spanText(facts.longestGapMs)}; a threshold below twice that is tight.`,
            ]
          : []),
      ],
    };
  return {
    ...base,
    cause: 'budgetSpent' as const,
    verdict: `${name} timed out because its work took longer than its budget of ${spanText(budgetMs)}; it last got further ${spanText(gapMs)} before the end${by}.`,
    advice: [
      late === undefined
        ? 'Give it a longer timeout, smaller work, or a worker that asks for extensions.'
        : `Give it at least ${spanText(late.at - facts.baseAt)}, or a worker that asks for extensions.`,
    ],
  };
}

function authorityText({ timeoutReportedAt, gateReason }: JobFacts, reason: string): string {
  if (reason === 'fallback') return ', and its gate was silent when it was reported';
  if (reason === 'global')
    return `; its gate declared it${gateReason === null ? '' : ` (${gateReason})`}`;
  if (gateReason !== null) return `; its gate declared it (${gateReason})`;
  return timeoutReportedAt === null || timeoutReportedAt === undefined
    ? ''
    : '; its gate decided so after a report';
}

function aliveJob(found: WhyCase, facts: JobFacts, budgetMs: number) {
  const { subject, at } = found;
  const dueAt = facts.baseAt + budgetMs;
  const stuckAt = facts.lastProgressAt + facts.stuckThresholdMs;
  const isWatched = subject.deadlines.some(
    ({ name }) => name === 'stuckLimit' || name === 'holdLimit',
  );
  const next =
    isWatched && stuckAt < dueAt
      ? (['no progress', stuckAt] as const)
      : (['its budget', dueAt] as const);
  return {
    cause: 'alive' as const,
    verdict: `${shortAddress(subject.address)} is ${facts.status}; it last got further ${spanText(at - facts.lastProgressAt)} ago, and ${next[0]} ends it in ${spanText(next[1] - at)} (${clockText(next[1])}).`,
    advice: [],
  };
}

function cancelledBy({ subject }: WhyCase): string {
  const turn = subject.turns.find(({ event }) => event === 'cancel.requested');
  return turn?.from === undefined ? '' : ` by ${shortAddress(turn.from)}`;
}

function failedWorkflow({ related }: WhyCase): string {
  for (const { kind, context } of related.values()) {
    const { workflowId, error } = context as {
      workflowId?: string;
      error?: { code: string; detail: string } | null;
    };
    if (kind === 'workflow' && error)
      return ` (${workflowId}: ${error.code} ${error.detail})`.slice(0, 300);
  }
  return '';
}

const workerName = (address: string): string =>
  shortAddress(address).slice('worker-health/'.length);

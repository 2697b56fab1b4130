/**
 * Explanation of a job at its gate: what it declared, because of which datacenters.
 */

import type { WhyCause } from '../protocol.ts';
import type { WhyCase } from './evidence.ts';
import { type JobFindings, whyJob } from './job.ts';
import { listText, shortAddress, spanText } from './words.ts';

interface GateFacts {
  readonly submittedAt: number;
  readonly terms: { readonly timeoutMs: number };
  readonly decision: {
    readonly at: number;
    readonly kind: string;
    readonly reason?: string;
    readonly detail?: string;
  } | null;
  readonly outcome: {
    readonly status: string;
    readonly reason: string | null;
    readonly at: number;
    readonly unconfirmed: readonly string[];
  } | null;
  readonly datacenters: Readonly<Record<string, unknown>>;
}

const CAUSES: Readonly<Record<string, WhyCause>> = {
  overall: 'budgetSpent',
  allDatacentersStuck: 'noProgress',
  datacenterTimeout: 'budgetSpent',
};

/** Undefined where the context is not that of a gate's job. */
export function whyGateJob(found: WhyCase): JobFindings | undefined {
  const facts = found.subject.context as Partial<GateFacts> | undefined;
  if (
    facts?.terms === undefined ||
    facts.datacenters === undefined ||
    facts.submittedAt === undefined
  )
    return undefined;
  const { outcome, decision, terms, submittedAt } = facts as GateFacts;
  const name = shortAddress(found.subject.address);
  const places = Object.keys(facts.datacenters);
  const until = outcome?.at ?? found.at;
  const sums = {
    budget: [
      {
        at: submittedAt,
        sort: 'base' as const,
        ms: terms.timeoutMs,
        text: `${spanText(terms.timeoutMs)} at the gate`,
      },
    ],
    budgetMs: terms.timeoutMs,
    usedMs: until - submittedAt,
  };
  if (outcome === null || outcome === undefined)
    return {
      ...sums,
      cause: 'alive',
      verdict: `${name} is under way in ${listText(places)} for ${spanText(sums.usedMs)}${decision === null ? '' : `; the gate has decided: ${decision.kind} ${decision.reason ?? ''}`}.`,
      advice: [],
    };
  const reason = outcome.reason ?? decision?.reason ?? undefined;
  const inner = innermost(found);
  if (outcome.status === 'timedOut')
    return {
      ...sums,
      endedAt: outcome.at,
      cause: inner?.cause ?? CAUSES[reason ?? ''] ?? 'budgetSpent',
      ...(reason !== undefined && { reason }),
      verdict: `${name} timed out (${reason ?? 'overall'})${inner === undefined ? ` in ${listText(places)}` : `: ${inner.verdict}`}`,
      silent: inner?.silent ?? [],
      ...(inner?.moreTime !== undefined && { moreTime: inner.moreTime }),
      advice: inner?.advice ?? [
        'Look at the job in each of its datacenters: they know what their workers did.',
      ],
      ...(outcome.unconfirmed.length > 0 && {
        gaps: [
          `The end in ${listText(outcome.unconfirmed)} is presumed: nobody there has confirmed it.`,
        ],
      }),
    };
  const cause: WhyCause =
    outcome.status === 'completed'
      ? 'completed'
      : outcome.status === 'cancelled'
        ? 'cancelled'
        : 'failed';
  return {
    ...sums,
    endedAt: outcome.at,
    cause,
    ...(reason !== undefined && { reason }),
    verdict: `${name} ${outcome.status} after ${spanText(sums.usedMs)} in ${listText(places)}.`,
    advice: [],
  };
}

/** What the job of one datacenter says of a timeout, where it could be asked. */
function innermost(found: WhyCase): JobFindings | undefined {
  for (const evidence of found.related.values()) {
    if (evidence.kind !== 'job') continue;
    const inner = whyJob({ ...found, subject: evidence });
    if (inner !== undefined && inner.endedAt !== undefined && inner.cause !== 'completed')
      return inner;
  }
  return undefined;
}

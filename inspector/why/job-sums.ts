/**
 * Sums of a job's time: its base, what was granted, what was denied, what a person gave.
 */

import type { BudgetLine } from '../protocol.ts';
import type { Evidence, WhyCase } from './evidence.ts';
import { clockText, listText, shortAddress, spanText } from './words.ts';

/** Part of a job's context that is read. */
export interface JobFacts {
  readonly status: string;
  readonly reason: string | null;
  readonly localReason: string | null;
  readonly gateReason: string | null;
  readonly baseAt: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly timeoutMs: number;
  readonly stuckThresholdMs: number;
  readonly lastProgressAt: number;
  readonly longestGapMs?: number;
  readonly timeoutReportedAt?: number | null;
  readonly failure?: string | null;
  readonly creditByWorker: Readonly<Record<string, number>>;
  readonly operatorCredits: ReadonlyArray<{
    readonly by: string;
    readonly byMs: number;
    readonly at: number;
  }>;
  readonly rules?: {
    readonly extensionAggregation?: string;
    readonly extensionJobCapMs?: number | null;
  };
  readonly lateEvents?: ReadonlyArray<{
    readonly type: string;
    readonly at: number;
    readonly detail: string;
  }>;
}

export function factsOf({ context }: Evidence): JobFacts | undefined {
  const facts = context as Partial<JobFacts> | undefined;
  const isJob =
    typeof facts?.timeoutMs === 'number' &&
    typeof facts.baseAt === 'number' &&
    facts.creditByWorker !== undefined;
  return isJob ? (facts as JobFacts) : undefined;
}

/** Base, and each credit; those of workers are in the turns, and a denied request in what its worker's health keeps. */
export function budgetOf(
  found: WhyCase,
  facts: JobFacts,
): { budget: BudgetLine[]; budgetMs: number } {
  const { creditByWorker, operatorCredits, rules = {}, timeoutMs, baseAt } = facts;
  const budget: BudgetLine[] = [
    {
      at: baseAt,
      sort: 'base',
      ms: timeoutMs,
      text: `${spanText(timeoutMs)} from ${clockText(baseAt)}`,
    },
  ];
  const credits = Object.values(creditByWorker);
  const summed =
    rules.extensionAggregation === 'sum'
      ? credits.reduce((sum, ms) => sum + ms, 0)
      : Math.max(0, ...credits);
  const granted = Math.min(summed, rules.extensionJobCapMs ?? timeoutMs);
  const grants = found.subject.turns.filter(({ event }) => event === 'extension.credited');
  if (granted > 0) {
    const workers = Object.keys(creditByWorker);
    const [first] = grants;
    const times = grants.length > 1 ? `, in ${grants.length} grants` : '';
    budget.push({
      at: first?.at ?? baseAt,
      sort: 'granted',
      ms: granted,
      who: listText(workers),
      text: `+ ${spanText(granted)} asked for by ${listText(workers)}${times}`,
    });
  }
  for (const { by, byMs, at } of operatorCredits)
    budget.push({
      at,
      sort: 'raised',
      ms: byMs,
      who: by,
      text: `+ ${spanText(byMs)} given by ${by}`,
    });
  budget.push(...deniedOf(found, facts));
  const extra = granted + operatorCredits.reduce((sum, { byMs }) => sum + byMs, 0);
  return { budget: budget.sort((one, other) => one.at - other.at), budgetMs: timeoutMs + extra };
}

function deniedOf({ related, subject }: WhyCase, { endedAt }: JobFacts): BudgetLine[] {
  const jobId = shortAddress(subject.address).slice('job/'.length);
  return [...related.values()].flatMap((evidence) => {
    if (evidence.kind !== 'worker-health') return [];
    const { answers = [], workerId } = evidence.context as {
      readonly workerId?: string;
      readonly answers?: ReadonlyArray<{
        readonly granted?: boolean;
        readonly denialReason?: string | null;
        readonly operationId?: string;
      }>;
    };
    return answers
      .filter(
        ({ granted, operationId }) =>
          granted === false && operationId?.startsWith(`${jobId}/`) === true,
      )
      .map(({ denialReason }): BudgetLine => {
        const asked = evidence.turns.findLast(({ event }) => event === 'extension.requested');
        return {
          at: asked?.at ?? endedAt ?? evidence.turnAt,
          sort: 'denied',
          ms: 0,
          who: workerId ?? evidence.address,
          why: denialReason ?? 'unknown',
          text: `a request of ${workerId} was denied: ${denialReason}`,
        };
      });
  });
}

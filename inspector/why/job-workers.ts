/**
 * Witnesses of a job's end: its workflows, the workers that had them, and what came too late.
 */

import type { SilentLine } from '../protocol.ts';
import type { Evidence, WhyCase } from './evidence.ts';
import { factsOf, type JobFacts } from './job-sums.ts';
import { clockText, shortAddress, spanText } from './words.ts';

export interface WorkflowFacts {
  readonly address: string;
  readonly workflowId: string;
  readonly dispatched: number;
  readonly cause: string | null;
  readonly worker: string | undefined;
  readonly lastProgressAt: number;
  readonly isRunning: boolean;
}

/** Workflows as their own records say, as of the job's end. */
export function workflowsOf({ related }: WhyCase, endedAt: number): WorkflowFacts[] {
  return [...related.values()].flatMap(({ kind, address, context, turns }) => {
    if (kind !== 'workflow') return [];
    const facts = context as {
      readonly workflowId?: string;
      readonly dispatched?: number;
      readonly cause?: string | null;
      readonly lastWorkerId?: string | null;
      readonly slot?: { readonly workerId?: string } | null;
      readonly lastProgressAt?: number;
      readonly hasSucceeded?: boolean;
    };
    const before =
      turns.findLast(({ at, state }) => at < endedAt && state !== undefined)?.state ?? '';
    return [
      {
        address,
        workflowId: facts.workflowId ?? shortAddress(address),
        dispatched: facts.dispatched ?? 0,
        cause: facts.cause ?? null,
        worker: facts.slot?.workerId ?? facts.lastWorkerId ?? undefined,
        lastProgressAt: facts.lastProgressAt ?? 0,
        isRunning: before.includes('RUNNING') || before.includes('DISPATCHED'),
      },
    ];
  });
}

/** Workers of unfinished work that nobody had heard of for long when the job ended, the longest first. */
export function silentOf(
  { related }: WhyCase,
  facts: JobFacts,
  flows: readonly WorkflowFacts[],
  endedAt: number,
): SilentLine[] {
  const lines: SilentLine[] = [];
  for (const worker of new Set(
    flows.flatMap((flow) => (flow.worker === undefined ? [] : [flow.worker])),
  )) {
    const health = [...related.values()].find(
      ({ kind, context }) =>
        kind === 'worker-health' && (context as { workerId?: string }).workerId === worker,
    );
    if (health === undefined) continue;
    const heard = lastHeard(health, endedAt);
    const lost = health.turns.find(
      ({ at, state }) =>
        at <= endedAt && at >= facts.baseAt && state !== undefined && /suspect|evicted/.test(state),
    );
    const rhythm = rhythmOf(health, endedAt);
    const ms = endedAt - (heard ?? endedAt);
    // A worker that lives is heard of every beat; three that are missing are silence.
    if (heard === undefined || (lost === undefined && ms < Math.max(3 * rhythm, 3_000))) continue;
    const isBack = lost !== undefined && ms < Math.max(3 * rhythm, 3_000);
    if (isBack) continue;
    lines.push({
      who: health.address,
      since: heard,
      ms,
      text: `worker ${worker} was silent since ${clockText(heard)} (${spanText(ms)})`,
    });
  }
  return lines.sort((one, other) => other.ms - one.ms);
}

/** Time between two heartbeats, as the last ones came. */
function rhythmOf({ turns }: Evidence, endedAt: number): number {
  const beats = turns
    .filter(({ event, at }) => event === 'heartbeat.received' && at <= endedAt)
    .map(({ at }) => at);
  const gaps = beats.slice(1).map((at, index) => at - (beats[index] ?? at));
  return gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0;
}

function lastHeard({ turns, context }: Evidence, endedAt: number): number | undefined {
  const { lastHeardAt } = context as { readonly lastHeardAt?: number };
  if (lastHeardAt !== undefined && lastHeardAt <= endedAt) return lastHeardAt;
  return turns.findLast(
    ({ event, at }) =>
      at <= endedAt &&
      /^(?:heartbeat\.received|registration\.told|extension\.requested|announce\.answered)$/.test(
        event,
      ),
  )?.at;
}

/** What would have ended the job well, and came after its end. */
export function lateOf(
  { subject, related }: WhyCase,
  endedAt: number,
): { what: string; at: number } | undefined {
  const own =
    factsOf(subject)?.lateEvents?.map(({ type, at, detail }) => ({
      what: `${type} of ${detail}`,
      at,
    })) ?? [];
  const others = [...related.values()].flatMap(({ kind, turns, address }) =>
    kind === 'workflow'
      ? turns
          .filter(
            ({ at, event }) =>
              at > endedAt && (event === 'result.received' || event === 'progress.received'),
          )
          .map(({ at, event }) => ({
            what: `${event === 'result.received' ? 'the result' : 'progress'} of ${shortAddress(address)}`,
            at,
          }))
      : [],
  );
  return [...own, ...others]
    .filter(({ at }) => at > endedAt)
    .sort((one, other) => one.at - other.at)[0];
}

/**
 * Canonical form of worlds: what no future depends on is forgotten, so that worlds with equal futures are
 * one world.
 *
 * Guarantees: what is forgotten is read by no guard, deadline or decision from then on, as long as
 * all clocks are one clock; or it stands only in what people read (notes, views, details). A test
 * compares an exploration that forgets with one that does not.
 */

import type { GateJobContext } from '../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../machines/jobs/job.ts';

type Canonicalize<TContext> = (context: TContext, state: unknown, isDone: boolean) => object;

export const canonicalizeJob: Canonicalize<JobContext> = (context, _state, isDone) => {
  const { status, reason, localReason, gateReason, startedAt, timeoutReportedAt } = context;
  if (isDone) return { status, reason, localReason, gateReason, startedAt, endedAt: startedAt };
  const isReported = timeoutReportedAt !== null;
  const stuckAt = context.lastProgressAt + context.stuckThresholdMs;
  const kept = {
    ...context,
    managerId: 'manager',
    seq: 1,
    // Read by a takeover on a clock that is behind, and there is one clock.
    seenAt: startedAt,
    longestGapMs: 0,
    lastExtensionAt: null,
    lateEvents: [],
    stuckGraceUntil: context.stuckGraceUntil <= stuckAt ? 0 : context.stuckGraceUntil,
    timeoutReportedAt: isReported ? startedAt : null,
    // The fallback counts from the later of the two; before a report nothing counts from it.
    lastGateContactAt: isReported
      ? Math.max(timeoutReportedAt, context.lastGateContactAt)
      : startedAt,
  };
  if (context.endedAt === null) return kept;
  return {
    ...kept,
    endedAt: startedAt,
    lastProgressAt: startedAt,
    lastGateContactAt: startedAt,
    stuckGraceUntil: 0,
    reportSeq: 0,
  };
};

/** Figures of a datacenter that carries the job no more decide nothing. */
const PAST = {
  elapsedMs: 0,
  askedAt: null,
  sinceProgressMs: null,
  queued: false,
  extensionsMs: 0,
  holdUntil: 0,
  reportSeq: 0,
  contact: 'heard',
  startedAt: null,
  contactSince: 0,
  metAt: null,
  question: null,
  isQuestioned: false,
} as const;

export const canonicalizeGateJob: Canonicalize<GateJobContext> = (context) => {
  const { outcome, decision, bornAt } = context;
  const datacenters = Object.entries(context.datacenters).map(([name, record]) => {
    const { run, final } = record;
    const isUnderWay = outcome === null && (run === 'running' || run === 'reported');
    return [
      name,
      {
        ...record,
        managerId: '',
        managerAddrs: {},
        lastProgressAt: bornAt,
        maxWorkerExtensionMs: 0,
        workersWithExtensions: 0,
        workflowsCompleted: 0,
        workflowsFailed: 0,
        final: final === null ? null : { ...final, endedAt: bornAt, results: [] },
        ...(!isUnderWay && { ...PAST, lastSeenAt: bornAt }),
      },
    ] as const;
  });
  return {
    ...context,
    datacenters: Object.fromEntries(datacenters),
    decision:
      decision === null
        ? null
        : { ...decision, at: outcome === null ? decision.at : bornAt, detail: '' },
    outcome: outcome === null ? null : { ...outcome, at: bornAt, results: [] },
    declared: 0,
    withdrawn: 0,
    lateEvents: [],
  };
};

/** Fields of messages that are for people. */
const FOR_PEOPLE = {
  managerId: 'manager',
  detail: '',
  sinceDetectedMs: 0,
  sinceEndedMs: 0,
  sinceDeclaredMs: 0,
  hasRecentProgress: false,
} as const;

const ENDS = new Set<unknown>(['completed', 'failed', 'cancelled', 'timedOut']);

/** A message as it is kept while it is under way. */
export function canonicalizeMessage(event: {
  readonly type: string;
  readonly [field: string]: unknown;
}) {
  const kept: Record<string, unknown> = { ...event };
  for (const [name, value] of Object.entries(FOR_PEOPLE)) if (name in kept) kept[name] = value;
  if (event.type === 'timeout.declared') kept.elapsedMs = 0;
  // The figures of an end are those of a datacenter that carries the job no more.
  if ('figures' in event && ENDS.has(event.status))
    kept.figures = {
      ...(event.figures as object),
      elapsedMs: 0,
      sinceProgressMs: 0,
      queued: false,
    };
  return kept as { readonly type: string; readonly [field: string]: unknown };
}

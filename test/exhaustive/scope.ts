/**
 * Scope of a world that is looked at whole: one job, two datacenters, a gate, and what may go wrong.
 *
 * A scope is finite because each thing that may happen has a limit here. The durations are small and
 * differ from each other, so that there are few moments at which anything is due; they pass the same
 * checks as those of a real configuration.
 */

import type { JobTerms } from '../../machines/jobs/messages/client.ts';
import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';

export type WorkPlan = 'none' | 'begins' | 'ends';

export interface Scope {
  /** Leaders of datacenters and gates that may die, together. */
  readonly crashes: number;
  /** Where: A and B are alike, so what dies in one of them need not die in the other too. */
  readonly mortal: ReadonlyArray<'gate' | 'A' | 'B'>;
  /** Deadlines that may fire while somebody is down, together: how long it takes until somebody else leads. */
  readonly absences: number;
  /**
   * Messages that may be late or lost, together: a deadline fires before they arrive, however much
   * later that is. A lane counts once until it is empty, because what is behind waits too.
   */
  readonly delays: number;
  /** Messages without guarantee that may come twice, together. */
  readonly copies: number;
  /** Cancels by a client, at any moment. */
  readonly cancels: number;
  /** Extensions that datacenter A may grant, at any moment while its workflow runs. */
  readonly grants: number;
  /** Messages without guarantee that may be under way, together; one more takes the place of the oldest. */
  readonly hints: number;
  /** No deadline that is due later fires. Whether an end can be reached is looked at beyond it too. */
  readonly horizonMs: number;
  /** Whether both datacenters have the job from the start, or take it at any moment, early or late or never. */
  readonly dispatch: 'done' | 'open';
  /**
   * Until when a job may begin by itself; one that is taken later begins when its gate has acknowledged it.
   * Null: whenever it is taken.
   */
  readonly beginsBeforeMs: number | null;
  /** Of the workflow in A and of the one in B: whether it may begin, and whether it may end by itself. */
  readonly work: readonly [WorkPlan, WorkPlan];
  readonly config: Partial<JobsConfiguration>;
  readonly terms: JobTerms;
}

/** How much time one extension adds. */
export const GRANT_MS = 900;

const CONFIG: Partial<JobsConfiguration> = {
  stuckThresholdMs: 2_500,
  reportIntervalMs: 2_200,
  allStuckThresholdMs: 2_900,
  silentAfterMs: 4_400,
  gateFallbackMs: 1_700,
  checkIntervalMs: 100,
  gateCheckIntervalMs: 100,
  gateDispatchLimitMs: 600,
  settleLimitMs: 1_300,
};

/** Both datacenters have the job, nothing goes wrong, and the budget of time runs out first. */
const CALM: Scope = {
  crashes: 0,
  mortal: ['gate', 'A', 'B'],
  absences: 0,
  delays: 0,
  copies: 0,
  cancels: 0,
  grants: 0,
  hints: 2,
  horizonMs: 6_000,
  dispatch: 'done',
  beginsBeforeMs: null,
  work: ['none', 'none'],
  config: CONFIG,
  terms: { timeoutMs: 2_000, targetDatacenters: ['A', 'B'] },
};

/** Workflows that begin: lack of progress may come first. */
const WORKING: Partial<Scope> = {
  work: ['ends', 'none'],
  terms: { timeoutMs: 3_000, targetDatacenters: ['A', 'B'] },
};

/** Each looks at other things that go wrong; together they are the small world. */
export const SCOPES = {
  /** One leader dies and another follows at once. */
  takeover: { ...CALM, crashes: 1, mortal: ['gate', 'A'] },
  /** One leader dies, and deadlines pass until another follows. */
  crash: { ...CALM, crashes: 1, absences: 2 },
  /** Two leaders of one datacenter die, one after the other. */
  leaderCrashes: { ...CALM, crashes: 2, mortal: ['A'] },
  gateCrashes: { ...CALM, crashes: 2, mortal: ['gate'] },
  bothCrash: { ...CALM, crashes: 2, mortal: ['gate', 'A'] },
  /** Messages are late, lost or come twice. */
  delays: { ...CALM, delays: 2, copies: 1 },
  /** A job that works and is cancelled. */
  work: { ...CALM, ...WORKING, delays: 1, cancels: 1 },
  /** More time is granted while the end is near. */
  grants: { ...CALM, ...WORKING, grants: 1, delays: 1 },
  /** Bringing the job to its datacenters succeeds early, late, or never. */
  dispatch: { ...CALM, dispatch: 'open', delays: 1, crashes: 1, mortal: ['gate'] },
  /** A submission that was on its way for longer than its gate waits: the job must not begin by itself. */
  lateSubmission: {
    ...CALM,
    ...{ dispatch: 'open', beginsBeforeMs: 600, work: ['ends', 'none'] },
    ...{ delays: 1, crashes: 1, mortal: ['gate'] },
  },
  /** All of it together; it is too large to be looked at whole. */
  full: {
    ...CALM,
    ...{ crashes: 2, absences: 3, delays: 1, copies: 1, cancels: 1, grants: 1 },
    ...WORKING,
    dispatch: 'open',
    work: ['ends', 'ends'],
  },
} as const satisfies Record<string, Scope>;

/**
 * Source of the panel of runs: what a program that hosts runs of agents or of map-reduce tells of them, and what it
 * lets humans say to them. It is made from committed records, so a page never disturbs a run.
 */

import type { RunsView, Shown } from '../protocol.ts';

export type RunsTold = Omit<RunsView, 'at' | 'missing'>;

/** Answer of a human to a question. */
export interface RunAnswer {
  readonly question: string;
  /** An option, or any text where there are none. */
  readonly answer: string;
  readonly texts?: readonly string[];
  readonly limitMs?: number;
}

export interface RunsSource {
  /** `show` makes what users have written fit to be shown. */
  view(at: number, show: (value: unknown) => Shown): RunsTold;
  /** Absent: nothing is asked of humans. Throws the reason why not. */
  answer?(given: RunAnswer, who: string): Promise<string>;
  /** More time for an attempt. Absent: attempts get none. Throws the reason why not. */
  extend?(address: string, byMs: number, who: string): Promise<string>;
}

/** Ended runs that are told. */
const ENDED_MAX = 20;
/** Tasks or items of one run that are told. */
export const PARTS_MAX = 200;

/** Runs to tell, the newest first: all that are live, then the last that have ended. */
export function newestRuns<TRun>(
  all: readonly TRun[],
  isLive: (run: TRun) => boolean,
): { readonly told: readonly TRun[]; readonly more: number } {
  const ended = all.filter((run) => !isLive(run)).reverse();
  const told = [...all.filter(isLive).reverse(), ...ended.slice(0, ENDED_MAX)];
  return { told, more: all.length - told.length };
}

/** Numbers of a state in the order in which they are given, without those that are 0. */
export function countsOf(
  states: readonly (readonly [state: string, count: number])[],
): ReadonlyArray<{ readonly state: string; readonly count: number }> {
  return states.filter(([, count]) => count > 0).map(([state, count]) => ({ state, count }));
}

/** Those that wait for a human first, then the one of which nothing was heard for longest. */
export function byNeed<TWorker extends { readonly isWaiting: boolean; readonly heardAt?: number }>(
  workers: readonly TWorker[],
): TWorker[] {
  return [...workers].sort(
    (one, other) =>
      Number(other.isWaiting) - Number(one.isWaiting) ||
      (one.heardAt ?? Number.POSITIVE_INFINITY) - (other.heardAt ?? Number.POSITIVE_INFINITY),
  );
}

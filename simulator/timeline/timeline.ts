/**
 * The timeline of a failure: one page that shows the run, why it broke, and the nearest run that passes.
 *
 * Guarantees: the page needs nothing but itself, from a disk and without a network. What comes of data
 * is in it once, as JSON in an inert element, and gets on the screen as text only: nothing in a run can
 * become markup or script. Its size is bounded; it says what was left out.
 */

import type { Because, PassingRun } from '../explanation.ts';
import type { Violation } from '../invariants.ts';
import { timelinePage } from './page.ts';
import { type ShownRun, timelineRun } from './records.ts';

export interface TimelineOptions {
  readonly run: ShownRun;
  readonly violation: Violation;
  readonly why: Because;
  readonly passing?: PassingRun<ShownRun>;
}

export function timeline({ run, violation, why, passing }: TimelineOptions): string {
  const { invariant, says, what, atMs, record } = violation;
  const parting = passing?.parting;
  return timelinePage(`${invariant} broken, seed ${run.plan.seed}`, {
    violation: { invariant, says, what, atMs, record },
    seed: run.plan.seed,
    why: why.links,
    chain: why.records,
    failing: timelineRun(run, record),
    passing: passing && {
      ...timelineRun(passing.run, parting?.passing?.index ?? null),
      change: passing.change,
      partsAtMs: parting?.passing?.atMs ?? parting?.failing?.atMs ?? null,
    },
  });
}

/**
 * Views of the page beside its lists: fleet, turns, timeline, messages, timeouts, letters. queries.ts has the
 * table of who asks for which.
 */

import type {
  ActorLine,
  Deadline,
  ErrorLine,
  Lane,
  MessageLine,
  Shown,
  TurnLine,
} from './actors.ts';
import type { Missing, Series } from './queries.ts';
import type { RecordedFailure, RecordedOther } from './recording.ts';
import type { Why } from './why.ts';

export interface FleetState {
  readonly path: string;
  readonly count: number;
  /** Times in the state that ended within the window; absent where none did. */
  readonly dwellP50Ms?: number;
  readonly dwellP99Ms?: number;
  readonly dwellP999Ms?: number;
  /** Actors that are in it for longer than its own p99.9. */
  readonly beyond: ReadonlyArray<{ readonly address: string; readonly since: number }>;
}

export interface FleetView {
  readonly at: number;
  readonly kind: string;
  readonly definition?: string;
  readonly windowMs: number;
  /** How far back was looked; less than the window when collecting began later. */
  readonly since: number;
  readonly states: readonly FleetState[];
  /** How often each transition was taken within the window, where known. */
  readonly transitions: Readonly<Record<string, number>>;
  readonly missing: Missing;
}

export interface TurnsPage {
  readonly at: number;
  /** Oldest first. */
  readonly turns: readonly TurnLine[];
  /** Ask with it as `before` for older ones. */
  readonly before?: number;
  /** Turns with contexts; absent when nothing was recorded, and `howToRecord` says how to. */
  readonly recorded?: { readonly from: number; readonly to: number };
  readonly howToRecord?: string;
}

export interface WhyAnswer {
  readonly at: number;
  readonly why: Why;
}

export interface TimelineAnswer {
  readonly at: number;
  /** In the order that was asked for; of a list without one the lane that began last is first. */
  readonly lanes: readonly Lane[];
  readonly messages: readonly MessageLine[];
  /** Lanes that were asked for and are not shown. */
  readonly more: number;
  /** Where the actors that took a turn last are those among the first that were looked at. */
  readonly isPartial?: { readonly why: string };
  /** Lives and leases of nodes, and faults, where a recording has them. */
  readonly nodes?: readonly Lane[];
  readonly faults?: readonly Lane[];
  readonly missing: Missing;
}

/** A broken invariant, what led there, and the nearest run that holds. */
export interface FailureAnswer {
  readonly at: number;
  readonly failure: RecordedFailure & { readonly at: number; readonly node: string };
  readonly other?: Omit<RecordedOther, 'lines'>;
  /** Records in words that there are of each run, and those left out. */
  readonly told: number;
  readonly leftOut: number;
}

export interface ToldLine {
  readonly index: number;
  readonly at: number;
  readonly node: string;
  readonly text: string;
  readonly address?: string;
  readonly turn?: number;
}

export interface ToldPage {
  readonly at: number;
  readonly rows: readonly ToldLine[];
  /** Number of the first row among all that match, and how many match. */
  readonly first: number;
  readonly total: number;
}

export interface MessagesAnswer {
  readonly at: number;
  readonly messages: readonly MessageLine[];
  readonly isCut: boolean;
  readonly missing: Missing;
}

export interface TimeoutLine {
  readonly kind: string;
  /** Name of the deadline, or reason of the jobs system. */
  readonly reason: string;
  readonly count: number;
  readonly rate: Series;
  /** p99 of the time that took what ended in time, and the limit. */
  readonly durationP99Ms?: number;
  readonly limitMs?: number;
  readonly recommendation?: string;
  /** True of a deadline that changes no state, such as that of a regular report. */
  readonly isRhythm?: boolean;
}

/** Deadlines of a kind that were not enforced, and what came of the actors that would have been ended. */
export interface ShadowLine {
  readonly kind: string;
  readonly reason: string;
  readonly count: number;
  /** Those that came to a good end all the same, and those that still live. */
  readonly completed: number;
  readonly living: number;
  /** The last one. */
  readonly last: string;
}

export interface TimeoutsView {
  readonly at: number;
  readonly windowMs: number;
  readonly since: number;
  readonly lines: readonly TimeoutLine[];
  /** Pending deadlines of the fleet by the time until they are due. */
  readonly pending: ReadonlyArray<{ readonly withinMs: number; readonly count: number }>;
  readonly soonest: ReadonlyArray<ActorLine & { readonly deadline?: Deadline }>;
  /** Absent where no system with a shadow mode runs. */
  readonly shadows?: readonly ShadowLine[];
  readonly missing: Missing;
}

export interface UndeliveredLine {
  readonly id: string;
  readonly at: number;
  readonly to: string;
  readonly from?: string;
  readonly type: string;
  readonly payload: Shown;
  readonly error: ErrorLine;
  readonly node: string;
}

export interface UndeliveredPage {
  readonly at: number;
  readonly rows: readonly UndeliveredLine[];
  readonly cursor?: string;
  readonly missing: Missing;
}

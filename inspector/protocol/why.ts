/**
 * Explanation of one end, or of what ends a living actor next. One pure module makes it (inspector/why.ts) for
 * the page, the terminal (`escapement why`), dead directories, recordings and simulated runs.
 */

import type { ActorExit, MessageLine } from './actors.ts';

/** Cause of an end, as a word that programs branch on. */
export type WhyCause =
  | 'alive'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'budgetSpent'
  | 'silentWorker'
  | 'noProgress'
  | 'neverStarted'
  | 'deadline'
  | 'endedByHand'
  | 'stopped'
  | 'unknown';

/** One line of the deadline's arithmetic: the sum of `ms` of all lines up to here is the budget then. */
export interface BudgetLine {
  readonly at: number;
  readonly sort: 'base' | 'granted' | 'denied' | 'raised' | 'paused' | 'grace';
  /** Milliseconds that it adds; 0 for what was denied. */
  readonly ms: number;
  readonly who?: string;
  readonly why?: string;
  readonly text: string;
}

export interface SilentLine {
  /** Address or node. */
  readonly who: string;
  readonly since: number;
  readonly ms: number;
  readonly text: string;
}

/** A step of the chain that led to the end: a turn and the message that caused it, the last one last. */
export interface ChainLine {
  readonly at: number;
  readonly address: string;
  readonly turn?: number;
  readonly text: string;
  readonly message?: MessageLine;
}

export interface Why {
  readonly address: string;
  readonly kind: string;
  readonly cause: WhyCause;
  /** Machine's own word for it, such as `timed_out/stuck` or the name of the deadline. */
  readonly reason?: string;
  /** When it ended; absent while it lives. */
  readonly endedAt?: number;
  /** One sentence. */
  readonly verdict: string;
  readonly budget: readonly BudgetLine[];
  /** Budget in all, and the time that was used, where there is one. */
  readonly budgetMs?: number;
  readonly usedMs?: number;
  readonly silent: readonly SilentLine[];
  readonly chain: readonly ChainLine[];
  /** What more time would have changed, where the history tells. */
  readonly moreTime?: string;
  /** What to change, the most likely first. */
  readonly advice: readonly string[];
  /** What can end it next, the soonest deadline first; empty for an ended one. */
  readonly exits: readonly ActorExit[];
  /** Where the present states last long compared with others of its kind. */
  readonly compared: ReadonlyArray<{
    readonly state: string;
    readonly ms: number;
    readonly usualMs: number;
    readonly text: string;
  }>;
  /** What is missing to say more, such as a history that was cut. */
  readonly gaps: readonly string[];
}

/**
 * Runs as they travel to the page: plans of agents and map-reduce workflows, with the questions that wait for a human,
 * who is at work, and what is still to be done. `GET api/runs` is answered with `RunsView`.
 *
 * Moments are the server's. Text of agents, plans and items is hostile until shown as text.
 */

import type { Shown } from './actors.ts';
import type { Missing } from './queries.ts';

export interface RunsView {
  readonly at: number;
  /** Those at work first, then the last that have ended. */
  readonly runs: readonly RunLine[];
  /** Ended ones that are not told. */
  readonly more: number;
  readonly missing: Missing;
}

export interface RunLine {
  readonly system: 'agents' | 'mapreduce';
  readonly runId: string;
  /** Actor that leads it. */
  readonly address: string;
  /** `running`, `blocked`, `paused`, `interrupted`, `completed`, `failed`. */
  readonly status: string;
  readonly isLive: boolean;
  /** Why it rests or fails, where it is known. */
  readonly why?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly slots: { readonly used: number; readonly all: number };
  /** Tasks or items by their state. */
  readonly counts: ReadonlyArray<{ readonly state: string; readonly count: number }>;
  /** Counters of usage, such as tokens and cost. */
  readonly usage: Readonly<Record<string, number>>;
  /** Open ones, the oldest first. */
  readonly questions: readonly QuestionLine[];
  /** Those that wait for a human first, then the quietest. */
  readonly workers: readonly WorkerLine[];
  readonly delegations: readonly DelegationLine[];
  /** Tasks in the order of the plan; of items those that are not done, and the last ones that failed. */
  readonly parts: readonly PartLine[];
  /** Parts that are not told. */
  readonly partsMore: number;
}

/** Question to a human. */
export interface QuestionLine {
  readonly id: string;
  readonly task: string;
  readonly kind: 'agent' | 'escalation';
  readonly text: string;
  readonly askedAt: number;
  /** Answers to choose from; absent where any text will do. */
  readonly options?: readonly QuestionOption[];
  readonly about?: Shown;
}

export interface QuestionOption {
  /** What a command `answer` says. */
  readonly answer: string;
  readonly label: string;
  /** What goes with it: a text, a list of texts, a duration that is longer than `limitMs`. */
  readonly needs?: 'text' | 'texts' | 'limit';
  readonly limitMs?: number;
}

/** Attempt at work. */
export interface WorkerLine {
  readonly id: string;
  readonly address: string;
  /** Task or item. */
  readonly of: string;
  /** Agent of the plan, or the command that runs. */
  readonly name: string;
  readonly state: string;
  /** It waits for a human. */
  readonly isWaiting: boolean;
  readonly startedAt?: number;
  /** Its clock: what was used at `at` of the answer, and whether it runs. */
  readonly clock?: {
    readonly usedMs: number;
    readonly limitMs?: number;
    readonly isRunning: boolean;
  };
  /** Moment of the last thing that it said. */
  readonly heardAt?: number;
  readonly lastAction?: string;
  readonly checkpoint?: {
    readonly at: number;
    readonly status: string;
    readonly percent?: number;
    readonly remaining: readonly string[];
  };
  /** Checkpoint that it is asked for, until then. */
  readonly checkpointDueAt?: number;
  readonly misses?: { readonly count: number; readonly stalledAt: number };
}

/** Request of an agent to an expert. */
export interface DelegationLine {
  readonly id: string;
  readonly address: string;
  readonly expert: string;
  readonly task: string;
  readonly state: string;
  readonly prompt: string;
  /** Absent while it waits for its place. */
  readonly dueAt?: number;
}

/** Task or item. */
export interface PartLine {
  readonly id: string;
  /** Its actor, or that of its last attempt. */
  readonly address?: string;
  readonly state: string;
  readonly attempts: number;
  /** In words: how often it timed out, what it waits for, why it failed. */
  readonly detail: string;
  /** When its next attempt begins. */
  readonly dueAt?: number;
}

/**
 * Driver shared by the two ways of running a generated machine: what is looked at, and the timers, which
 * fire in order of due time, then of arming.
 */

import type { StepSpec } from './generate.ts';

/** What can be seen of a world after a step. */
export interface View {
  readonly trace: readonly string[];
  readonly state: unknown;
  readonly running: readonly string[];
  readonly timers: readonly number[];
  /** The message of what ended it, if something did. */
  readonly failure: string | undefined;
}

export interface World {
  take(step: StepSpec): void;
  view(): View;
}

export type Counters = Record<string, number>;

export const LIMITS = { microstepsMax: 100, childrenMax: 100_000 };

/** Ends what multiplies by itself, in both worlds alike. */
const FIRED_MAX = 200;

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly fire: () => void;
}

/** Fires in order of due time, then of arming; stops at each timer on the way. */
export class Timers {
  now = 1_000;
  #order = 0;
  readonly #byKey = new Map<unknown, Timer>();

  arm(key: unknown, delayMs: number, fire: () => void): void {
    this.#order += 1;
    this.#byKey.set(key, { dueAt: this.now + delayMs, order: this.#order, fire });
  }

  cancel(matches: (key: unknown) => boolean): void {
    for (const key of this.#byKey.keys()) if (matches(key)) this.#byKey.delete(key);
  }

  delete(key: unknown): void {
    this.#byKey.delete(key);
  }

  dues(): number[] {
    return [...this.#byKey.values()].map(({ dueAt }) => dueAt).sort((a, b) => a - b);
  }

  advance(byMs: number): void {
    const end = this.now + byMs;
    for (let fired = 0; fired < FIRED_MAX; fired += 1) {
      const [next] = [...this.#byKey]
        .filter(([, { dueAt }]) => dueAt <= end)
        .sort(([, a], [, b]) => a.dueAt - b.dueAt || a.order - b.order);
      if (next === undefined) break;
      this.#byKey.delete(next[0]);
      this.now = next[1].dueAt;
      next[1].fire();
    }
    this.now = end;
  }
}

export interface AnySnapshot {
  readonly status: string;
  readonly value?: unknown;
  readonly context?: Record<string, unknown>;
  readonly output?: unknown;
  readonly children?: Record<string, { getSnapshot(): AnySnapshot }>;
}

/** What a machine author can see of a snapshot, as plain data. */
export function stateOf({ status, value, context, output, children = {} }: AnySnapshot): unknown {
  const { spawned, ...plain } = context ?? {};
  // A reference to a child that is gone does not outlive a restore, in XState neither.
  const isKept = spawned !== undefined && spawned === children.spawned;
  const below = Object.entries(children).map(([id, child]) => [id, stateOf(child.getSnapshot())]);
  const shown = typeof context === 'object' ? { ...plain, isKept } : context;
  return JSON.parse(JSON.stringify({ status, value, shown, output, below }));
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

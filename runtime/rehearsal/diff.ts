/**
 * Differences between two releases of the same machines, without any data: states, events and
 * deadlines that came and went.
 *
 * By name alone. A transition that leads elsewhere, a guard or an action that does
 * something else is not seen here, and needs no migration.
 */

import { type Outline, outlineOf } from '../statechart.ts';
import type { RehearsedKinds } from './kinds.ts';

export interface Change {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface MachineDifference {
  readonly kind: string;
  /** Undefined where that side does not have the kind. */
  readonly oldVersion: number | undefined;
  readonly newVersion: number | undefined;
  readonly states: Change;
  readonly events: Change;
  readonly timers: Change;
}

const NOTHING: Outline = { states: [], events: [], timers: [] };

/** Compares every kind that either side has, in the order of their names; those that are equal included. */
export function compareKinds(old: RehearsedKinds, next: RehearsedKinds): MachineDifference[] {
  const names = [...new Set([...old.keys(), ...next.keys()])].sort();
  return names.map((kind) => {
    const before = old.get(kind)?.kind;
    const after = next.get(kind)?.kind;
    const oldOutline = before === undefined ? NOTHING : outlineOf(before.source);
    const newOutline = after === undefined ? NOTHING : outlineOf(after.source);
    return {
      kind,
      oldVersion: before?.version,
      newVersion: after?.version,
      states: changeOf(oldOutline.states, newOutline.states),
      events: changeOf(oldOutline.events, newOutline.events),
      timers: changeOf(oldOutline.timers, newOutline.timers),
    };
  });
}

/** True if stored state may need a migration: a state or a deadline that is gone, a deadline that is new. */
export function matters({ states, timers }: MachineDifference): boolean {
  return states.removed.length + timers.removed.length + timers.added.length > 0;
}

/** True if anything differs. */
export function differs({ states, events, timers }: MachineDifference): boolean {
  return [states, events, timers].some(({ added, removed }) => added.length + removed.length > 0);
}

function changeOf(old: readonly string[], next: readonly string[]): Change {
  const [before, after] = [new Set(old), new Set(next)];
  return {
    added: [...after].filter((name) => !before.has(name)),
    removed: [...before].filter((name) => !after.has(name)),
  };
}

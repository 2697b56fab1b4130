/**
 * Faults made by chance: which kinds of a menu, how many, when and for how long.
 *
 * Guarantees: the same chance and options give the same faults. One run in twenty has none and must be
 * clean, one in twenty has exactly one.
 */

import type { Chance } from '../world.ts';
import type { Edges } from './edges.ts';
import type { Nemesis } from './nemesis.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Scene } from './strike.ts';

const FAULT_FREE_PROBABILITY = 0.05;
const SINGLE_PROBABILITY = 0.05;
const ENABLED_PROBABILITY = 0.5;
/** Most faults of one run: more only hide each other. */
const NEMESES_MAX = 8;

/** What goes wrong before `healAtMs` in a cluster; nothing, one time in twenty. */
export function drawNemeses<TScene extends Scene>(
  chance: Chance,
  shape: TScene['shape'],
  allowed: readonly NemesisKind<TScene>[],
  healAtMs: number,
  edges: Edges,
): readonly Nemesis[] {
  const isFaultFree = chance.is(FAULT_FREE_PROBABILITY);
  const isSingle = chance.is(SINGLE_PROBABILITY);
  const possible = allowed.filter(({ fits }) => fits?.(shape) ?? true);
  if (isFaultFree || possible.length === 0) return [];
  const enabled = chance.some(possible, ENABLED_PROBABILITY);
  const kinds = enabled.length > 0 ? enabled : [chance.pick(possible)];
  const count = isSingle ? 1 : chance.whole(1, NEMESES_MAX);
  return Array.from({ length: count }, (_, index) => {
    const { kind, draw, awaitsMoment } = chance.pick(kinds);
    const atMs = edges.draw(chance, 0, Math.max(0, healAtMs - 1));
    const longestMs = Math.max(1, healAtMs - atMs);
    const drawnMs = Math.min(longestMs, Math.round(chance.scaled(10, Math.max(11, longestMs))));
    const durMs = awaitsMoment === true ? longestMs : drawnMs;
    return { id: `n${index + 1}`, kind, atMs, durMs, ...draw(chance, shape) };
  });
}

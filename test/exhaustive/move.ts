/**
 * One thing that happens, from a world to the next. The world before is not changed.
 */

import type { Finding } from './actor-states.ts';
import { copyOf, type World } from './world.ts';

export interface Move {
  readonly world: World;
  readonly broken: Finding | undefined;
  /** In plain words. */
  readonly says: () => string;
}

/** Changes the world, and says what it found broken. */
export type Change = (world: World) => Finding | undefined;

/** The world after a change. */
export function made(world: World, says: string | (() => string), change: Change): Move {
  const next = copyOf(world);
  const broken = change(next);
  return { world: next, broken, says: typeof says === 'string' ? () => says : says };
}

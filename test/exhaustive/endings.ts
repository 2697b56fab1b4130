/**
 * Check that everything still comes to its end, from wherever it is, once nothing goes wrong any more.
 *
 * Followed from each world is the fair way: what is not kept and under way is lost, then each node that is
 * down comes back, messages arrive as soon as they are sent, deadlines fire in order, and workflows
 * never end by themselves. One way that ends is enough to say that an end can be reached. Each way
 * is followed as far as where another one went before.
 */

import type { Finding } from './actor-states.ts';
import type { Moves } from './moves.ts';
import { copyOf, DISPATCH, encodeWorld, NOBODY, WORK, type World } from './world.ts';

/** A finding, and the moves that led to it. */
export interface WayOut extends Finding {
  readonly way: readonly string[];
}

/** Longer ways are taken for ones without an end. */
const MOVES_MAX = 1_000;

export class Endings {
  readonly #moves: Moves;
  readonly #isOver: (world: World) => boolean;
  readonly #followed = new Set<string>();

  constructor(moves: Moves, isOver: (world: World) => boolean) {
    this.#moves = moves;
    this.#isOver = isOver;
  }

  /** What is found on the way from here and was not found before; `TS-2` when the way has no end. */
  follow(from: World): WayOut | undefined {
    let world = calmed(from);
    let finding: Finding | undefined;
    const passed = new Set<string>();
    const says: Array<() => string> = [];
    for (;;) {
      const text = encodeWorld(world);
      if (this.#followed.has(text)) break;
      if (passed.has(text)) {
        finding = { invariant: 'TS-2', what: 'it goes round in a circle' };
        break;
      }
      passed.add(text);
      if (this.#isOver(world)) break;
      const { value: move } = this.#moves.from(world, Number.MAX_SAFE_INTEGER).next();
      if (move === undefined) finding = { invariant: 'TS-2', what: 'nothing can happen any more' };
      else if (passed.size > MOVES_MAX) finding = { invariant: 'TS-2', what: 'it goes on and on' };
      else finding = move.broken;
      if (move !== undefined) says.push(move.says);
      if (finding !== undefined || move === undefined) break;
      world = move.world;
    }
    for (const text of passed) this.#followed.add(text);
    return finding && { ...finding, way: says.map((say) => say()) };
  }
}

/** Nothing goes wrong from now on, and what may be lost is. */
function calmed(from: World): World {
  const world = copyOf(from);
  const none = { crashes: 0, absences: 0, delays: 0, late: 0, copies: 0, cancels: 0, grants: 0 };
  Object.assign(world, none, { hints: [] });
  for (const site of world.sites)
    if (site.dispatch === DISPATCH.astray) site.dispatch = DISPATCH.over;
  return world;
}

/** Everybody has ended and heard of it; nothing is left over. */
export function isOver(world: World, isDone: (who: number, state: number) => boolean): boolean {
  const isSiteOver = world.sites.every(({ job, work, dispatch, isSought }, site) => {
    const isJobOver = job === NOBODY || isDone(site, job);
    const isWorkOver = work === WORK.none || work === WORK.over;
    const isAsked = dispatch === DISPATCH.asking || dispatch === DISPATCH.taken;
    return isJobOver && isWorkOver && !isAsked && !isSought;
  });
  return isSiteOver && isDone(2, world.gate) && world.lanes.every((lane) => lane.length === 0);
}

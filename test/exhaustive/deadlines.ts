/**
 * Moves of time: to the earliest deadline of all who are up, and of equals any may come first.
 *
 * Messages are quicker than deadlines. One that is not, because it was lost and is sent again or is
 * just late, is one of the delays that a scope allows; then it may arrive at any later time. So may
 * what is under way to somebody who is down, which is no delay but an absence.
 */

import { ZERO } from './cast.ts';
import { type Move, made } from './move.ts';
import { nameOf, PLACES, receiverOf, type Turns } from './turns.ts';
import { copyOf, DISPATCH, LANES, type World } from './world.ts';

/** The mark of a late message without guarantee. */
const LATE = 2;

export class Deadlines {
  readonly #turns: Turns;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** None that is due after `untilMs`. */
  *due(world: World, untilMs: number): Generator<Move> {
    const waiting = PLACES.filter((who) => this.#turns.isUp(world, who)).map((who) => {
      const { dueAt = Number.POSITIVE_INFINITY } = this.#turns.stateOf(world, who) ?? {};
      return { who, atMs: Math.max(world.nowMs, dueAt - ZERO) };
    });
    const first = Math.min(...waiting.map(({ atMs }) => atMs));
    if (first > untilMs) return;
    const passed = first > world.nowMs ? this.#overtaken(world) : world;
    if (passed === undefined) return;
    for (const { who, atMs } of waiting) {
      if (atMs !== first) continue;
      const says = () => `${first} ms: ${this.#nameOf(world, who)} of ${nameOf(who)} is due`;
      yield made(passed, says, (next) => {
        next.nowMs = first;
        return this.#turns.fire(next, who);
      });
    }
  }

  /** The name of the delay, as in the chart: `xstate.after.overallLimit.job.active…`. */
  #nameOf(world: World, who: number): string | undefined {
    return this.#turns.stateOf(world, who)?.timers[0]?.id.split('.')[2];
  }

  /** The world in which time has passed what is under way; undefined when too much would be late. */
  #overtaken(world: World): World | undefined {
    let { late, delays, absences } = world;
    const count = (bit: number): void => {
      if ((late & bit) !== 0) return;
      late |= bit;
      delays -= 1;
    };
    for (const [lane, messages] of world.lanes.entries())
      if (messages.length > 0 && this.#turns.isUp(world, receiverOf(lane))) count(1 << lane);
    for (const [site, { dispatch, isUp }] of world.sites.entries()) {
      const isAsked = dispatch === DISPATCH.asking || dispatch === DISPATCH.taken;
      if (isAsked && isUp && world.isGateUp) count(1 << (LANES + site));
    }
    delays -= world.hints.filter((hint) => (hint & LATE) === 0).length;
    if (PLACES.some((who) => !this.#turns.isUp(world, who))) absences -= 1;
    if (delays < 0 || absences < 0) return undefined;
    const hints = world.hints.map((hint) => hint | LATE);
    return { ...copyOf(world), late, delays, absences, hints };
  }
}

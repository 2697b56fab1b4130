/**
 * Run loop: takes turns in batches, by actors that have something to take, in their order and for a limited
 * time.
 *
 * Round robin among the most urgent, one item of one actor at a time (ready-actors.ts). A batch ends when
 * nobody has anything left, the group is full, or its slice of time is over; then
 * pending I/O has its turn. While a store goes on refusing, batches come after growing
 * pauses.
 */

import type { Actor, Commits } from '../actor.ts';
import { pauseMs } from '../base/backoff.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import { ReadyActors } from './ready-actors.ts';

export interface BatchWork {
  /** False when no turn may be taken now. Asked before every batch. */
  mayBegin(): boolean;
  /** Takes one item of the actor; true while it has more. */
  takeNext(actor: Actor, at: number): boolean;
  /** Nobody has anything to take: time for bookkeeping. */
  idle(): void;
  /** A batch is over, and others wait. */
  paused(): void;
}

export class Batches {
  readonly #clock: Clock;
  readonly #limits: RuntimeLimits;
  readonly #commits: Commits;
  readonly #work: BatchWork;
  readonly #ready = new ReadyActors();
  #isPlanned = false;
  /** Set while the next batch waits for a store that goes on refusing. */
  #cancelPause: Cancel | undefined;
  #refusals = 0;
  #lastAt = 0;

  constructor(clock: Clock, limits: RuntimeLimits, commits: Commits, work: BatchWork) {
    this.#clock = clock;
    this.#limits = limits;
    this.#commits = commits;
    this.#work = work;
  }

  /** Actors that have something to take. */
  get size(): number {
    return this.#ready.size;
  }

  /** Number of them that have a deadline that is due. */
  get dueSize(): number {
    return this.#ready.dueSize;
  }

  get firstDue(): Actor | undefined {
    return this.#ready.firstDue;
  }

  /** The actor has something to take. */
  add(actor: Actor): void {
    this.#ready.add(actor);
    this.plan();
  }

  /** Makes sure that a batch follows. */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    // The first refusal may have been a single one; a second in a row is worth waiting for.
    if (this.#refusals < 2) {
      queueMicrotask(this.#run);
      return;
    }
    const at = this.#clock.now() + pauseMs(this.#refusals - 1, this.#limits);
    this.#cancelPause = this.#clock.schedule(at, this.#run);
  }

  /** Notes how the last commit went. */
  committed(isRefused: boolean): void {
    this.#refusals = isRefused ? this.#refusals + 1 : 0;
  }

  clear(): void {
    this.#ready.clear();
    if (this.#cancelPause === undefined) return;
    this.#cancelPause();
    this.#cancelPause = undefined;
    this.#isPlanned = false;
  }

  readonly #run = (): void => {
    this.#isPlanned = false;
    this.#cancelPause = undefined;
    if (!this.#work.mayBegin()) return;
    const isSliceOver = this.#takeTurns();
    if (this.#ready.size === 0) this.#work.idle();
    else this.#work.paused();
    this.#commits.flush();
    if (!isSliceOver) return;
    this.#isPlanned = true;
    this.#clock.defer(this.#run);
  };

  /** True when the slice was over before the work was. */
  #takeTurns(): boolean {
    const endsAt = this.#clock.now() + this.#limits.sliceMs;
    const ready = this.#ready;
    let taken = 0;
    let isSliceOver = false;
    while (ready.size > 0) {
      // A full group waits for the one before it; the release plans the next batch.
      if (!this.#commits.hasRoom(this.#limits.groupTurnsMax)) break;
      const at = this.#stamp();
      isSliceOver = taken > 0 && at > endsAt;
      if (isSliceOver) break;
      const actor = ready.shift() as Actor;
      taken += 1;
      if (this.#work.takeNext(actor, at)) ready.add(actor);
    }
    return isSliceOver;
  }

  /** The time of a turn: this node's, and never lower than that of the turn before. */
  #stamp(): number {
    const now = this.#clock.now();
    if (now > this.#lastAt) this.#lastAt = now;
    return this.#lastAt;
  }
}

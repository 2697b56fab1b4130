/**
 * A line: tasks of a clock that run one after the other, in the order in which they were added.
 *
 * Guarantees: that order holds whatever the clock does with tasks that are due at the same moment.
 * A line can be held: then nothing of it runs, and when it is released all that came due meanwhile
 * runs at once, still in order. What is due later can be hurried. Nothing in it can be taken back.
 */

import type { Clock } from '../../runtime/ports/clock.ts';

export interface LineTask {
  run(): void;
  /** It came due while the line is held. */
  held?(): void;
}

export class ClockLine {
  readonly #clock: Clock;
  readonly #tasks: LineTask[] = [];
  #lastAt = Number.NEGATIVE_INFINITY;
  #holds = 0;
  /** Tasks that came due while the line was held. */
  #missed = 0;
  /** Turns that are still to come. */
  #turns = 0;
  #next = this.#newTurn();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#tasks.length === 0;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** When the last task that was added is due, or was. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** At that moment, or as soon as those before it may run. */
  add(atMs: number, task: LineTask): void {
    this.#lastAt = Math.max(this.#lastAt, atMs);
    this.#tasks.push(task);
    this.#schedule(this.#lastAt);
  }

  /** All that is due later is due now. */
  hurry(): void {
    const turns = this.#turns;
    this.#turns = 0;
    this.#next = this.#newTurn();
    this.#lastAt = this.#clock.now();
    for (let turn = 0; turn < turns; turn++) this.#schedule(this.#lastAt);
  }

  /** Runs it now, or, while the line is held, behind all that came due in it. */
  pass(task: LineTask): void {
    if (this.#holds === 0) {
      task.run();
      return;
    }
    // Before those that are not due yet.
    this.#tasks.splice(this.#missed, 0, task);
    this.#missed += 1;
    task.held?.();
  }

  /** As often as it is held it has to be released. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    const missed = this.#missed;
    this.#missed = 0;
    for (let turn = 0; turn < missed; turn++) this.#schedule(this.#clock.now());
  }

  #schedule(atMs: number): void {
    this.#turns += 1;
    this.#clock.schedule(atMs, this.#next);
  }

  /** Every task has one turn, and whichever comes takes the first that waits. Those from before a hurry do nothing. */
  #newTurn(): () => void {
    const turn = (): void => {
      if (this.#next !== turn) return;
      this.#turns -= 1;
      if (this.#holds > 0) {
        this.#tasks[this.#missed]?.held?.();
        this.#missed += 1;
        return;
      }
      this.#tasks.shift()?.run();
    };
    return turn;
  }
}

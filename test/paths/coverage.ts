/**
 * Coverage of a machine by its paths: what they have been through, what is missing by name, and what is
 * excused.
 *
 * An excuse holds for a state, an event type, a transition or a pair; that of a state holds for all
 * below it and all that begins in it, that of an event type for all that it does. An excuse for
 * something that was reached after all is a fault as well: it would hide that it stops being reached.
 */

import type { PathStep } from './plan.ts';
import { lineOf, pairOf, type Shape, type StateNode } from './shape.ts';
import type { Situation, Situations } from './situation.ts';

/** How much of it was reached, of how much that is not excused. */
export interface Share {
  readonly reached: number;
  readonly all: number;
}

export interface Coverage {
  readonly states: Share;
  readonly transitions: Share;
  readonly pairs: Share;
  readonly missing: readonly string[];
  /** Excuses that excuse nothing. */
  readonly idleExcuses: readonly string[];
}

export class CoverageBook {
  readonly #situations: Situations;
  readonly #wanted: ReadonlySet<string>;
  readonly #excuses: readonly string[];
  readonly #reached = new Set<string>();
  /** What is wanted and not reached. */
  #open: number;

  constructor(situations: Situations, unreachable: Readonly<Record<string, string>> = {}) {
    const { shape } = situations.pure;
    this.#situations = situations;
    this.#excuses = Object.keys(unreachable);
    this.#wanted = wantedIn(shape, new Set(this.#excuses));
    this.#open = this.#wanted.size;
  }

  get isWhole(): boolean {
    return this.#open === 0;
  }

  /** Notes a spawn. */
  born({ entered, taken }: Situation): void {
    for (const name of [...entered, ...taken]) this.#reach(name);
  }

  /**
   * Notes a step, and says whether it is worth walking: it reached something for the first time, or
   * is the first to set off these transitions, or none, by an event of its type.
   */
  note(before: Situation, step: PathStep, after: Situation): boolean {
    if (after.thrown !== undefined) return true;
    const eventType = this.#situations.eventTypeOf(step);
    const names = [...after.entered, ...after.taken];
    if (eventType !== undefined)
      for (const state of this.#situations.pure.statesOf(before.snapshot))
        names.push(pairOf(state, eventType));
    names.push(`${eventType ?? step.type} sets off ${after.taken.join(', ')}`);
    let isNew = false;
    for (const name of names) if (this.#reach(name)) isNew = true;
    return isNew;
  }

  /** As it stands. */
  read(): Coverage {
    const { states, transitions, pairs } = this.#situations.pure.shape;
    return {
      states: this.#share(states.keys()),
      transitions: this.#share(transitions.values()),
      pairs: this.#share(pairs.keys()),
      missing: [...this.#wanted].filter((name) => !this.#reached.has(name)),
      idleExcuses: this.#excuses.filter((name) => this.#isIdle(name)),
    };
  }

  /** True for the first time. */
  #reach(name: string): boolean {
    if (this.#reached.has(name)) return false;
    this.#reached.add(name);
    if (this.#wanted.has(name)) this.#open -= 1;
    return true;
  }

  #share(names: Iterable<string>): Share {
    const wanted = [...names].filter((name) => this.#wanted.has(name));
    const reached = wanted.filter((name) => this.#reached.has(name));
    return { reached: reached.length, all: wanted.length };
  }

  #isIdle(excuse: string): boolean {
    const { states, transitions, eventTypes, pairs } = this.#situations.pure.shape;
    if (eventTypes.includes(excuse))
      return [...states.keys()].some((state) => this.#reached.has(pairOf(state, excuse)));
    const isKnown =
      states.has(excuse) || pairs.has(excuse) || [...transitions.values()].includes(excuse);
    return !isKnown || this.#reached.has(excuse);
  }
}

function wantedIn({ states, transitions, pairs }: Shape, excuses: ReadonlySet<string>) {
  const isExcused = (node: StateNode, eventType?: string): boolean =>
    (eventType !== undefined && excuses.has(eventType)) ||
    [...lineOf(node)].some(({ id }) => excuses.has(id));
  const wanted = new Set<string>();
  for (const [name, node] of states) if (!isExcused(node)) wanted.add(name);
  for (const [{ source, eventType }, name] of transitions)
    if (!isExcused(source, eventType)) wanted.add(name);
  for (const [name, { node, eventType }] of pairs)
    if (!isExcused(node, eventType)) wanted.add(name);
  for (const excuse of excuses) wanted.delete(excuse);
  return wanted;
}

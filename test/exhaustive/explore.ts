/**
 * Looks at every world that can come of a submission, one move further at a time.
 *
 * Guarantees: each world is met once, by a shortest way; every turn on the way and every world is
 * checked, and from each an end is reached where nothing more goes wrong. What it has not come to
 * because of a limit it says (`isComplete`).
 *
 * It is as good as its world, so this is what is left out of it:
 * - One clock; time moves to deadlines only, and messages are quicker but for the delays (deadlines.ts).
 * - The engine keeps its promises: a kept message arrives once and in order, a turn is whole or never
 *   was, the successor hears that first. A crash before a commit is one before the turn; it
 *   swallows what is under way to the node without guarantee.
 * - A datacenter takes the job in one step; disks outlive their nodes, so no gate is rebuilt.
 * - Workflows are played (work.ts): there are no workers, and no run is tried again.
 * - Of messages without guarantee only the last few are under way; no deadline beyond the horizon fires.
 * - What no future depends on is forgotten (canonical-form.ts).
 */

import type { Finding } from './actor-states.ts';
import { checkAgreement } from './agreement.ts';
import { Cast, type CastOptions, DATACENTERS } from './cast.ts';
import { Endings, isOver, type WayOut } from './endings.ts';
import type { Move } from './move.ts';
import { Moves } from './moves.ts';
import { SCOPES, type Scope } from './scope.ts';
import { decodeWorld, encodeWorld, NOBODY, type World } from './world.ts';

export interface ExploreOptions extends CastOptions {
  /** Default: `SCOPES.crash`. */
  readonly scope?: Scope;
  /** Worlds that are met before it stops. Default: all. */
  readonly statesMax?: number;
  /** Violations before it stops. Default 1. */
  readonly violationsMax?: number;
  /** Hears of every world, as text without what no future depends on. */
  readonly onWorld?: (portrait: string) => void;
  /** Hears how far it is, about every ten thousand worlds. */
  readonly onProgress?: (progress: Pick<Exploration, 'states' | 'transitions' | 'depth'>) => void;
}

export interface Exploration {
  /** Different worlds. */
  readonly states: number;
  /** Moves from one world to another, or to the same. */
  readonly transitions: number;
  /** Moves of the longest of the shortest ways. */
  readonly depth: number;
  /** Worlds in which everybody has ended. */
  readonly terminals: number;
  /** States of the gate's job, of the job in A and of the one in B, and messages. */
  readonly parts: readonly [number, number, number, number];
  readonly violations: readonly BrokenWorld[];
  /** Every world within the scope was looked at. */
  readonly isComplete: boolean;
}

export interface BrokenWorld extends Finding {
  /** What happened, from the submission on. */
  readonly trace: readonly string[];
}

const PROGRESS_EVERY = 10_000;

export function explore(options: ExploreOptions = {}): Exploration {
  return new Explorer(options).run();
}

class Explorer {
  readonly #options: ExploreOptions;
  readonly #scope: Scope;
  readonly #cast: Cast;
  readonly #moves: Moves;
  readonly #endings: Endings;
  readonly #numbers = new Map<string, number>();
  /** By number, in the order in which they were met. */
  readonly #texts: string[] = [];
  readonly #parents: number[] = [];
  /** Pairs of a gate and a job that agree. */
  readonly #agreed = [new Set<number>(), new Set<number>()] as const;
  readonly #violations: BrokenWorld[] = [];
  /** Found on a fair way, which is seldom the shortest: told of where no shorter one is found. */
  #ahead: { readonly finding: WayOut; readonly number: number } | undefined;
  #terminals = 0;
  #transitions = 0;

  constructor(options: ExploreOptions) {
    const { scope = SCOPES.crash } = options;
    this.#options = options;
    this.#scope = scope;
    this.#cast = new Cast(scope, options);
    this.#moves = new Moves(this.#cast);
    this.#endings = new Endings(this.#moves, (world) => this.#isOver(world));
  }

  run(): Exploration {
    const { statesMax = Number.POSITIVE_INFINITY, violationsMax = 1, onProgress } = this.#options;
    const first = this.#moves.first();
    if (first.broken !== undefined) this.#report(first.broken, 0, [first.says()]);
    this.#meet(first.world, encodeWorld(first.world), -1);
    let depth = 0;
    /** Where the worlds begin that are one move further. */
    let further = 1;
    let number = 0;
    for (; number < this.#texts.length; number += 1) {
      if (this.#texts.length >= statesMax || this.#violations.length >= violationsMax) break;
      if (number === further) {
        depth += 1;
        further = this.#texts.length;
      }
      this.#goOn(number);
      if (number % PROGRESS_EVERY === 0 && onProgress !== undefined)
        onProgress({ states: this.#texts.length, transitions: this.#transitions, depth });
    }
    if (this.#ahead !== undefined && this.#violations.length === 0)
      this.#report(this.#ahead.finding, this.#ahead.number, this.#ahead.finding.way);
    const { gate, jobs, messages } = this.#cast;
    const [one, other] = jobs;
    return {
      states: this.#texts.length,
      transitions: this.#transitions,
      depth,
      terminals: this.#terminals,
      parts: [
        gate.states.things.length,
        one.states.things.length,
        other.states.things.length,
        messages.things.length,
      ],
      violations: this.#violations,
      isComplete: number === this.#texts.length,
    };
  }

  #goOn(number: number): void {
    const world = decodeWorld(this.#texts[number] as string);
    for (const move of this.#moves.from(world, this.#scope.horizonMs)) {
      this.#transitions += 1;
      if (move.broken !== undefined) this.#report(move.broken, number, [move.says()]);
      const text = encodeWorld(move.world);
      if (!this.#numbers.has(text)) this.#meet(move.world, text, number);
    }
  }

  #meet(world: World, text: string, parent: number): void {
    const number = this.#texts.length;
    this.#numbers.set(text, number);
    this.#texts.push(text);
    this.#parents.push(parent);
    this.#options.onWorld?.(this.#cast.portraitOf(world));
    if (this.#isOver(world)) this.#terminals += 1;
    const disagreement = this.#disagreementIn(world);
    if (disagreement !== undefined) this.#report(disagreement, number, []);
    const ahead = this.#endings.follow(world);
    if (ahead === undefined) return;
    if (ahead.invariant === 'TS-2') this.#report(ahead, number, ahead.way);
    else this.#ahead ??= { finding: ahead, number };
  }

  #isOver(world: World): boolean {
    return isOver(world, (who, state) => {
      const actor = this.#cast.jobs[who] ?? this.#cast.gate;
      return actor.get(state).isDone;
    });
  }

  #disagreementIn(world: World): Finding | undefined {
    for (const [site, { job }] of world.sites.entries()) {
      const agreed = this.#agreed[site] as Set<number>;
      const pair = world.gate * 2 ** 24 + job;
      if (agreed.has(pair)) continue;
      const there = job === NOBODY ? undefined : this.#cast.jobs[site as 0 | 1].get(job).context;
      const gate = this.#cast.gate.get(world.gate).context;
      const finding = checkAgreement(gate, DATACENTERS[site] as string, there);
      if (finding !== undefined) return finding;
      agreed.add(pair);
    }
    return undefined;
  }

  #report({ invariant, what }: Finding, number: number, more: readonly string[]): void {
    this.#violations.push({ invariant, what, trace: [...this.#wayTo(number), ...more] });
  }

  /** The moves of a shortest way, made again to hear what they say. */
  #wayTo(number: number): string[] {
    const way: string[] = [];
    for (let to = number; (this.#parents[to] as number) >= 0; to = this.#parents[to] as number) {
      const world = decodeWorld(this.#texts[this.#parents[to] as number] as string);
      way.unshift(this.#moveTo(world, this.#texts[to] as string)?.says() ?? '?');
    }
    return way;
  }

  #moveTo(from: World, text: string): Move | undefined {
    for (const move of this.#moves.from(from, this.#scope.horizonMs))
      if (encodeWorld(move.world) === text) return move;
    return undefined;
  }
}

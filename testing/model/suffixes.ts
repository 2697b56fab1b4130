/**
 * Suffixes: where only a part of a machine can be seen, steps after a step that show where it really led.
 *
 * Situations that look alike are told apart by what can be done in them: each gets as few ways on as show it
 * from all that look like it and behave otherwise. Every step that changes something is followed by the ways on of
 * the situation that it should lead to, and so are all events that a situation ignores.
 */

import type { Edge, Graph, Situation } from './graph.ts';
import { type Oracle, seenOf, textOf } from './observation.ts';
import type { TestCase, TestStep } from './step.ts';
import { ignored, titleOf } from './tour.ts';

/** Ways on of one situation, and other situations that it is told from. */
const WAYS_MAX = 6;
const OTHERS_MAX = 60;
/** Rounds in which situations are told apart: the length of the longest way on. */
const ROUNDS_MAX = 40;

export function* suffixes(graph: Graph, oracle: Oracle): Generator<TestCase> {
  const looks = new Looks(graph, oracle);
  const ways = new Map<Situation, ReadonlyArray<readonly TestStep[]>>();
  const waysFrom = (situation: Situation): ReadonlyArray<readonly TestStep[]> => {
    const known = ways.get(situation) ?? looks.waysOn(situation);
    ways.set(situation, known);
    return known;
  };
  for (let number = 0; number < WAYS_MAX; number++) {
    for (const isFirst of [true, false]) {
      for (const situation of graph.situations.values()) {
        for (const edge of situation.edges) {
          const to = graph.situations.get(edge.to);
          const way = edge.isChange && edge.isFirst === isFirst && to && waysFrom(to)[number];
          if (way) yield caseOf(situation, [edge.step], way);
        }
        const way = isFirst ? waysFrom(situation)[number] : undefined;
        const idle = situation.edges.filter(ignored).map(({ step }) => step);
        if (way !== undefined) yield caseOf(situation, idle, way);
      }
    }
  }
}

function caseOf(
  { input, way }: Situation,
  then: readonly TestStep[],
  wayOn: readonly TestStep[],
): TestCase {
  const steps = [...then, ...wayOn];
  return { input, title: `suffixes: ${titleOf(steps)}`, steps: [...way, ...steps] };
}

class Looks {
  readonly #situations: readonly Situation[];
  readonly #looks = new Map<Situation, string>();
  readonly #steps = new Map<
    Situation,
    Map<string, { readonly edge: Edge; readonly to: Situation }>
  >();
  /** Of each round the group of a situation: those in one are not told apart by that many steps. */
  readonly #rounds: Array<Map<Situation, number>> = [];

  constructor({ situations }: Graph, oracle: Oracle) {
    this.#situations = [...situations.values()];
    for (const situation of this.#situations) {
      this.#looks.set(situation, seenOf(situation.snapshot, oracle));
      const steps = new Map<string, { readonly edge: Edge; readonly to: Situation }>();
      for (const edge of situation.edges) {
        const to = situations.get(edge.to);
        if (to !== undefined) steps.set(nameOf(edge.step), { edge, to });
      }
      this.#steps.set(situation, steps);
    }
    this.#rounds.push(this.#grouped((situation) => this.#looks.get(situation) as string));
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const before = this.#rounds.at(-1) as Map<Situation, number>;
      const next = this.#grouped((situation) => {
        const own = before.get(situation) as number;
        const moves = [...(this.#steps.get(situation) ?? [])]
          .map(([name, { to }]) => [name, before.get(to)] as const)
          // What leaves it where it is says nothing more than that it is there.
          .filter(([, to]) => to !== own)
          .sort(([one], [other]) => (one < other ? -1 : 1));
        return textOf([own, moves]);
      });
      this.#rounds.push(next);
      if (sizeOf(next) === sizeOf(before)) break;
    }
  }

  /** Few ways on that tell the situation from all others that look like it. */
  waysOn(situation: Situation): ReadonlyArray<readonly TestStep[]> {
    const look = this.#looks.get(situation);
    const groups = this.#rounds.at(-1) as Map<Situation, number>;
    const others = new Map<number, Situation>();
    for (const other of this.#situations) {
      const group = groups.get(other) as number;
      if (this.#looks.get(other) !== look || group === groups.get(situation)) continue;
      if (!others.has(group)) others.set(group, other);
      if (others.size >= OTHERS_MAX) break;
    }
    const ways: string[][] = [];
    let left = [...others.values()];
    while (left.length > 0 && ways.length < WAYS_MAX) {
      const way = this.#apart(situation, left[0] as Situation);
      const seen = this.#seenOn(situation, way).join('\n');
      ways.push(way);
      left = left.slice(1).filter((other) => this.#seenOn(other, way).join('\n') === seen);
    }
    return ways.map((way) => this.#stepsOf(situation, way));
  }

  /** Names of steps after which the two look different. */
  #apart(one: Situation, other: Situation): string[] {
    const way: string[] = [];
    let [here, there] = [one, other];
    while (this.#looks.get(here) === this.#looks.get(there)) {
      const round = this.#rounds.findIndex((groups) => groups.get(here) !== groups.get(there));
      const before = this.#rounds[round - 1];
      if (before === undefined) break;
      const names = [
        ...(this.#steps.get(here) as Map<string, unknown>).keys(),
        ...(this.#steps.get(there) as Map<string, unknown>).keys(),
      ];
      const name = names.find(
        (step) => before.get(this.#after(here, step)) !== before.get(this.#after(there, step)),
      );
      if (name === undefined) break;
      way.push(name);
      [here, there] = [this.#after(here, name), this.#after(there, name)];
    }
    return way;
  }

  #after(situation: Situation, name: string): Situation {
    return this.#steps.get(situation)?.get(name)?.to ?? situation;
  }

  #seenOn(situation: Situation, way: readonly string[]): string[] {
    let at = situation;
    return way.map((name) => {
      at = this.#after(at, name);
      return this.#looks.get(at) as string;
    });
  }

  /** The steps by these names; one that cannot be taken where it stands is left out. */
  #stepsOf(situation: Situation, way: readonly string[]): TestStep[] {
    let at = situation;
    return way.flatMap((name) => {
      const found = this.#steps.get(at)?.get(name);
      at = found?.to ?? at;
      return found === undefined ? [] : [found.edge.step];
    });
  }

  #grouped(of: (situation: Situation) => string): Map<Situation, number> {
    const numbers = new Map<string, number>();
    return new Map(
      this.#situations.map((situation) => {
        const text = of(situation);
        const number = numbers.get(text) ?? numbers.size;
        numbers.set(text, number);
        return [situation, number] as const;
      }),
    );
  }
}

const sizeOf = (groups: ReadonlyMap<Situation, number>): number => new Set(groups.values()).size;

/** The same for the same thing done in two situations: how long a deadline takes is not in it. */
const nameOf = (step: TestStep): string => (step.type === 'advance' ? 'due' : JSON.stringify(step));

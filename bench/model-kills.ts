/**
 * Kills: after how many steps the cases of a contender tell a mutant from its machine, by every oracle in one pass.
 *
 * What is seen of the machine itself is written down once per contender. A mutant is played as far as
 * something can still be learned of it, and not on cases that enter no state in which it differs.
 */

import { notingCopy } from '../testing/model/noting.ts';
import { ORACLES, type Oracle, observed } from '../testing/model/observation.ts';
import type { Samples } from '../testing/model/samples.ts';
import type { TestCase } from '../testing/model/step.ts';
import { Subject } from '../testing/model/subject.ts';
import type { Mutant } from '../testing/mutants/mutant.ts';
import { mayShow, type Site } from '../testing/mutants/site.ts';
import type { CorpusEntry } from './model-corpus/entry.ts';

/** Number of the step that killed it, by oracle; left out where it lives. */
export type Kills = Readonly<Partial<Record<Oracle, number>>>;

/** Says whether it is worth going on after that number of steps, with what has been found. */
export type GoesOn = (steps: number, kills: Kills) => boolean;

interface Seen {
  readonly test: TestCase;
  /** States that it enters. */
  readonly entered: ReadonlySet<string>;
  /** What is seen after the beginning and after each step, by oracle. */
  readonly by: Readonly<Record<Oracle, readonly string[]>>;
}

const COARSE = ORACLES.filter((oracle) => oracle !== 'full');

/** All that is seen of a subject; written again only where its snapshot is another one. */
class Whole {
  readonly #subject: Subject;
  #of: unknown;
  #text = '';

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  text(): string {
    const { thrown } = this.#subject;
    const of = thrown ?? this.#subject.snapshot;
    // The state of a child may change while that of its parent stays.
    const isSame = of === this.#of && (thrown !== undefined || !this.#subject.hasChildren);
    if (!isSame) this.#text = observed(this.#subject, 'full');
    this.#of = of;
    return this.#text;
  }
}

export class Played {
  readonly #samples: Samples;
  readonly #seen: readonly Seen[];
  readonly steps: number;

  constructor({ machine }: CorpusEntry, samples: Samples, cases: readonly TestCase[]) {
    this.#samples = samples;
    this.steps = cases.reduce((sum, { steps }) => sum + steps.length, 0);
    const { noting, found } = notingCopy(machine);
    const subject = new Subject(noting);
    const whole = new Whole(subject);
    // The same text is kept once.
    const texts = new Map<string, string>();
    const kept = (text: string): string => {
      const known = texts.get(text);
      if (known === undefined) texts.set(text, text);
      return known ?? text;
    };
    this.#seen = cases.map((test) => {
      const by = Object.fromEntries(ORACLES.map((oracle) => [oracle, []])) as unknown as Record<
        Oracle,
        string[]
      >;
      const look = (): void => {
        const text = kept(whole.text());
        const isSame = by.full.at(-1) === text;
        by.full.push(text);
        // Where all is as it was, so is each part of it.
        for (const oracle of COARSE)
          by[oracle].push(isSame ? (by[oracle].at(-1) as string) : kept(observed(subject, oracle)));
      };
      found.hits.clear();
      subject.begin(samples.inputs[test.input]);
      look();
      for (const step of test.steps) {
        subject.perform(step);
        look();
      }
      const entered = [...found.wanted.states].filter((id) => found.hits.has(id));
      return { test, by, entered: new Set(entered) };
    });
  }

  killsOf(mutant: Mutant, site: Site, goesOn: GoesOn): Kills {
    let subject: Subject;
    try {
      subject = new Subject(mutant.machine());
    } catch {
      // It is no machine at all, which building it shows.
      return Object.fromEntries(ORACLES.map((oracle) => [oracle, 0]));
    }
    const kills: Partial<Record<Oracle, number>> = {};
    let steps = 0;
    const whole = new Whole(subject);
    for (const { test, by, entered } of this.#seen) {
      const look = (at: number): void => {
        // What is the same in full is the same to every other oracle.
        if (whole.text() === by.full[at]) return;
        kills.full ??= steps;
        for (const oracle of ORACLES)
          if (kills[oracle] === undefined && observed(subject, oracle) !== by[oracle][at])
            kills[oracle] = steps;
      };
      if (!goesOn(steps, kills)) return kills;
      if (!mayShow(site, entered)) {
        steps += test.steps.length;
        continue;
      }
      subject.begin(this.#samples.inputs[test.input]);
      look(0);
      for (const [index, step] of test.steps.entries()) {
        subject.perform(step);
        steps += 1;
        look(index + 1);
      }
    }
    return kills;
  }
}

/** Cases of `stepsMax` steps together; the last one may be cut. */
export function cut(cases: Iterable<TestCase>, stepsMax: number): TestCase[] {
  const taken: TestCase[] = [];
  let left = stepsMax;
  for (const one of cases) {
    if (left <= 0) break;
    const steps = one.steps.slice(0, left);
    left -= steps.length;
    taken.push({ ...one, steps });
    if (left <= 0) break;
  }
  return taken;
}

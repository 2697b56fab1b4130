/**
 * Live runs: test cases played against a driver, compared with the machine step by step.
 *
 * A failure says at which step what differed, and comes with the shortest case that still fails.
 */

import type { AnyStateMachine } from 'xstate';
import type { Driver, DriverFactory } from './driver.ts';
import { type Observation, type Oracle, oracleFor, textOf } from './observation.ts';
import type { Samples } from './samples.ts';
import type { TestCase, TestStep } from './step.ts';
import { Subject } from './subject.ts';

/** What must be true after every step; throws or returns false where it is not. */
export type Invariant = (
  snapshot: unknown,
  // biome-ignore lint/suspicious/noConfusingVoidType: an assertion returns nothing.
) => boolean | void;

export interface LiveFailure {
  readonly test: TestCase;
  /** Number of the step after which it was seen; 0 is the beginning. */
  readonly afterStep: number;
  readonly what: string;
  readonly expected: string;
  readonly seen: string;
}

export interface LiveOptions {
  readonly driver: DriverFactory;
  readonly invariants?: Readonly<Record<string, Invariant>>;
  /** Told after each case. */
  readonly onCase?: (played: number) => void;
  /** State values that were written down, of each step; they must be seen whatever the machine says. */
  readonly expectedValues?: readonly unknown[];
  /** Failures after which it stops. Default 10. */
  readonly failuresMax?: number;
}

export interface LiveRun {
  readonly cases: number;
  readonly steps: number;
  readonly failures: readonly LiveFailure[];
}

const FAILURES_MAX = 10;
/** Runs spent on making a failing case shorter. */
const SHRINKS_MAX = 200;

export async function playLive(
  machine: AnyStateMachine,
  samples: Pick<Samples, 'inputs'>,
  cases: Iterable<TestCase>,
  options: LiveOptions,
): Promise<LiveRun> {
  const { failuresMax = FAILURES_MAX, onCase } = options;
  const player = new Player(machine, samples, await options.driver(), options);
  const failures: LiveFailure[] = [];
  const told = new Set<string>();
  let played = 0;
  let steps = 0;
  for (const test of cases) {
    const failure = await player.play(test);
    played += 1;
    steps += test.steps.length;
    onCase?.(played);
    // One failure of a kind says it all: the next cases would only say it again.
    if (failure === undefined || told.has(kindOf(failure))) continue;
    const short = await shrunk(player, failure);
    for (const one of [failure, short]) told.add(kindOf(one));
    failures.push(short);
    if (failures.length >= failuresMax) break;
  }
  return { cases: played, steps, failures };
}

/** What a driver shows, seen at the beginning of a test; all where it does not even begin. */
export async function oracleOf(factory: DriverFactory, input: unknown): Promise<Oracle> {
  const driver = await factory();
  try {
    await driver.start(input);
    return oracleFor(await driver.observe());
  } catch {
    return 'full';
  } finally {
    await driver.stop?.();
  }
}

class Player {
  readonly #subject: Subject;
  readonly #samples: Pick<Samples, 'inputs'>;
  readonly #driver: Driver;
  readonly #invariants: Readonly<Record<string, Invariant>>;
  readonly #expectedValues: readonly unknown[] | undefined;

  constructor(
    machine: AnyStateMachine,
    samples: Pick<Samples, 'inputs'>,
    driver: Driver,
    { invariants = {}, expectedValues }: LiveOptions,
  ) {
    this.#subject = new Subject(machine);
    this.#samples = samples;
    this.#driver = driver;
    this.#invariants = invariants;
    this.#expectedValues = expectedValues;
  }

  /** The first difference, if there is one. */
  async play(test: TestCase): Promise<LiveFailure | undefined> {
    const input = this.#samples.inputs[test.input];
    const driver = this.#driver;
    this.#subject.begin(input);
    const born = this.#threw(test, 0);
    if (born !== undefined) return born;
    let afterStep = 0;
    try {
      const started = await this.#doing(test, 0, () => driver.start(input));
      if (started !== undefined) return started;
      const first = await this.#compare(test, 0);
      if (first !== undefined) return first;
      for (const step of test.steps) {
        afterStep += 1;
        this.#subject.perform(step);
        // On the driver it might never come back.
        const failure =
          this.#threw(test, afterStep) ??
          (await this.#doing(test, afterStep, () => driver.perform(step))) ??
          (await this.#compare(test, afterStep));
        if (failure !== undefined) return failure;
      }
    } finally {
      await driver.stop?.();
    }
    return undefined;
  }

  async #doing(
    test: TestCase,
    afterStep: number,
    act: () => void | Promise<void>,
  ): Promise<LiveFailure | undefined> {
    try {
      await act();
    } catch (thrown) {
      const seen = thrown instanceof Error ? thrown.message : String(thrown);
      return { test, afterStep, what: 'the driver threw', expected: 'no error', seen };
    }
    return undefined;
  }

  #threw(test: TestCase, afterStep: number): LiveFailure | undefined {
    const { thrown } = this.#subject;
    if (thrown === undefined) return undefined;
    const seen = thrown instanceof Error ? thrown.message : String(thrown);
    return { test, afterStep, what: 'the machine threw', expected: 'no error', seen };
  }

  async #compare(test: TestCase, afterStep: number): Promise<LiveFailure | undefined> {
    const { snapshot } = this.#subject;
    const seen = await this.#driver.observe();
    const written = afterStep === 0 ? undefined : this.#expectedValues?.[afterStep - 1];
    if (written !== undefined && textOf(written) !== textOf(seen.value))
      return {
        test,
        afterStep,
        what: 'state',
        expected: textOf(written),
        seen: textOf(seen.value),
      };
    for (const [what, value] of Object.entries(seen) as Array<[keyof Observation, unknown]>) {
      if (value === undefined) continue;
      const [expected, found] =
        what === 'tags'
          ? [[...snapshot.tags].sort(), [...(value as readonly string[])].sort()]
          : [snapshot[what as 'value'], value];
      if (textOf(expected) === textOf(found)) continue;
      return { test, afterStep, what, expected: textOf(expected), seen: textOf(found) };
    }
    return this.#broken(test, afterStep);
  }

  #broken(test: TestCase, afterStep: number): LiveFailure | undefined {
    for (const [name, holds] of Object.entries(this.#invariants)) {
      const { snapshot } = this.#subject;
      let why: string | undefined;
      try {
        if (holds(snapshot) === false) why = textOf([snapshot.value, snapshot.context]);
      } catch (thrown) {
        why = thrown instanceof Error ? thrown.message : String(thrown);
      }
      if (why !== undefined)
        return { test, afterStep, what: `invariant "${name}"`, expected: 'it holds', seen: why };
    }
    return undefined;
  }
}

const kindOf = ({ what, expected, seen }: LiveFailure): string =>
  what.startsWith('invariant ') ? what : `${what} ${expected} ${seen}`;

/** The same failure on a case as short as it can be. */
async function shrunk(player: Player, failure: LiveFailure): Promise<LiveFailure> {
  const cut = (steps: readonly TestStep[]): TestCase => ({ ...failure.test, steps });
  let best: LiveFailure = {
    ...failure,
    test: cut(failure.test.steps.slice(0, failure.afterStep)),
  };
  let runs = 0;
  for (let size = best.test.steps.length >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < best.test.steps.length && runs < SHRINKS_MAX; ) {
      const steps = [...best.test.steps];
      steps.splice(from, size);
      const found = await player.play(cut(steps));
      runs += 1;
      if (found?.what === failure.what)
        best = { ...found, test: cut(steps.slice(0, found.afterStep)) };
      else from += size;
    }
  }
  return best;
}

/**
 * `testPaths`, `propertyTest`, `describeMachine`, `describePaths`: tests made from a machine, in a team's
 * own test files.
 */

import type { AnyStateMachine } from 'xstate';
import type { DriverFactory } from './driver.ts';
import { engineDriver } from './engine-driver.ts';
import { type Invariant, type LiveFailure, oracleOf, playLive } from './live.ts';
import { type GivenSamples, samplesFor } from './samples.ts';
import { type TestCase, type TestStep, wordsOf } from './step.ts';
import { PHASES, type Phase, Suite } from './suite.ts';

export interface MachineTestOptions {
  /** What the tests are played on. Default: the engine in virtual time, once more with restarts. */
  readonly driver?: DriverFactory | undefined;
  readonly samples?: GivenSamples | undefined;
  /** What must hold after every step, by name. */
  readonly invariants?: Readonly<Record<string, Invariant>>;
  /** Steps of all tests together. Default 3,000. */
  readonly steps?: number;
  readonly seed?: number;
  readonly phases?: readonly Phase[];
}

export interface MachineTestReport {
  readonly cases: number;
  readonly steps: number;
  readonly failures: readonly LiveFailure[];
}

/** A test made from a machine failed; the message has the shortest steps that show it. */
export class MachineTestError extends Error {
  readonly failures: readonly LiveFailure[];

  constructor(failures: readonly LiveFailure[]) {
    super(failures.map(textOfFailure).join('\n\n'));
    this.name = 'MachineTestError';
    this.failures = failures;
  }
}

const STEPS = 3_000;

/** Plays the tests of a machine. @throws {MachineTestError} */
export async function testPaths(
  machine: AnyStateMachine,
  options: MachineTestOptions = {},
): Promise<MachineTestReport> {
  const { steps = STEPS, samples, seed, phases, driver, invariants } = options;
  const suite = new Suite(machine, {
    ...(samples !== undefined && { samples }),
    ...(seed !== undefined && { seed }),
    ...(phases !== undefined && { phases }),
  });
  const [input] = Object.values(suite.samples.inputs);
  const oracle = driver === undefined ? 'full' : await oracleOf(driver, input);
  const cases = [...suite.cases(steps, oracle)];
  const report = { cases: 0, steps: 0, failures: [] as LiveFailure[] };
  for (const factory of driver === undefined ? enginesOf(machine) : [driver]) {
    const run = await playLive(machine, suite.samples, cases, {
      driver: factory,
      ...(invariants !== undefined && { invariants }),
    });
    report.cases += run.cases;
    report.steps += run.steps;
    report.failures.push(...run.failures);
    if (run.failures.length > 0) throw new MachineTestError(run.failures);
  }
  return report;
}

/** Random walks only, that prefer what was done least. @throws {MachineTestError} */
export function propertyTest(
  machine: AnyStateMachine,
  options: Omit<MachineTestOptions, 'phases'> = {},
): Promise<MachineTestReport> {
  return testPaths(machine, { ...options, phases: ['walks'] });
}

/** A property that must hold in every snapshot, for `invariants`. */
export const invariant = (name: string, holds: Invariant): Readonly<Record<string, Invariant>> => ({
  [name]: holds,
});

/** The part of a test runner that is used; vitest, jest and node:test have it. */
interface Runner {
  describe(name: string, define: () => void): void;
  test(name: string, run: () => Promise<void>, timeoutMs?: number): void;
}

const TEST_TIMEOUT_MS = 120_000;
const PHASE_NAMES: Readonly<Record<Phase, string>> = {
  transitions: 'takes every transition and every deadline at its moment',
  'ignored events': 'ignores what it should ignore',
  ties: 'takes an event and a deadline of one instant in either order',
  holds: 'keeps the other deadlines while an event moves one away',
  walks: 'goes on so over long walks',
  suffixes: 'is where it should be, as far as what follows shows it',
};

/** Defines tests of a machine in a file of vitest; `await` it at the top level. */
export async function describeMachine(
  machine: AnyStateMachine,
  options: MachineTestOptions = {},
): Promise<void> {
  const { describe, test } = await runner();
  const { steps = STEPS, driver } = options;
  // The engine shows all: nothing is hidden that suffixes would have to bring to light.
  const { phases = PHASES.filter((phase) => phase !== 'suffixes' || driver !== undefined) } =
    options;
  describe(machine.id, () => {
    for (const phase of phases)
      test(
        PHASE_NAMES[phase],
        async () => {
          await testPaths(machine, { ...options, steps, phases: [phase] });
        },
        TEST_TIMEOUT_MS,
      );
  });
}

/** A path that was written to a file: the steps, and the state that is seen after each. */
export interface StoredPath {
  readonly title: string;
  readonly input?: string;
  readonly steps: ReadonlyArray<TestStep & { readonly sees: string }>;
}

/** State values by the names that paths use. */
export type StoredStates = Readonly<Record<string, unknown>>;

/** Defines a test for each stored path; `await` it at the top level. */
export async function describePaths(
  machine: AnyStateMachine,
  { states, paths }: { readonly states: StoredStates; readonly paths: readonly StoredPath[] },
  { driver, samples, invariants }: MachineTestOptions = {},
): Promise<void> {
  const { describe, test } = await runner();
  const inputs = { inputs: samples?.inputs ?? samplesFor(machine, samples).inputs };
  describe(machine.id, () => {
    for (const { title, input = '', steps } of paths)
      test(title, async () => {
        const one: TestCase = { title, input, steps };
        const seen = steps.map(({ sees }) => states[sees]);
        const { failures } = await playLive(machine, inputs, [one], {
          driver: driver ?? (() => engineDriver(machine)),
          expectedValues: seen,
          ...(invariants !== undefined && { invariants }),
        });
        if (failures.length > 0) throw new MachineTestError(failures);
      });
  });
}

const enginesOf = (machine: AnyStateMachine): DriverFactory[] =>
  [false, true].map((restartsAlways) => () => engineDriver(machine, { restartsAlways }));

export async function runner(): Promise<Runner> {
  const globals = globalThis as unknown as Partial<Runner>;
  if (globals.describe !== undefined && globals.test !== undefined) return globals as Runner;
  // Not a dependency: who calls this runs it already.
  const name = 'vitest';
  return (await import(/* @vite-ignore */ name)) as Runner;
}

function textOfFailure({ test, afterStep, what, expected, seen }: LiveFailure): string {
  const steps = test.steps.map(
    (step, index) => `  ${index + 1 === afterStep ? '→' : ' '} ${index + 1}. ${wordsOf(step)}`,
  );
  return [`${what}: expected ${expected}, seen ${seen}`, ...steps].join('\n');
}

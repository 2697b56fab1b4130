/** Report of a simulation: how much was played, what went wrong in it, and what broke. */

import type { AnyStateMachine } from 'xstate';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { count } from '../explanation.ts';
import { type Failure, failureOf, textOf } from './failure.ts';
import { faultsOf } from './fault-counts.ts';
import { pageOf } from './page.ts';
import type { SimulationRun } from './run.ts';
import type { Shrunk } from './shrink.ts';
import { type FaultFigures, Tally } from './tally.ts';

export class SimulationReport {
  readonly #tally = new Tally();
  readonly #failures: Failure[] = [];
  /** Smallest run of each failure. */
  readonly #shrunk: Shrunk[] = [];
  readonly #own: readonly string[];
  readonly #machines: Readonly<Record<string, AnyStateMachine>>;
  #pageFile: string | undefined;

  /** `own`: the user's sentences. */
  constructor(own: readonly string[], machines: Readonly<Record<string, AnyStateMachine>>) {
    this.#own = own;
    this.#machines = machines;
  }

  get failures(): readonly Failure[] {
    return this.#failures;
  }

  /** Runs that were played; what shrinking took is not counted. */
  get runs(): number {
    return this.#tally.figures().runs;
  }

  /** Simulated time of all runs together. */
  get simulatedMs(): number {
    return this.#tally.figures().simulatedMs;
  }

  /** Faults by kind: how often each began, and how often it changed something. */
  get faults(): Readonly<Record<string, FaultFigures>> {
    return this.#tally.figures().faults;
  }

  /** How often each invariant had something to say. */
  get exercised(): Readonly<Record<string, number>> {
    return this.#tally.figures().exercised;
  }

  /** The user's sentences that never had anything to say: they did not hold, they were not asked. */
  get neverExercised(): readonly string[] {
    const { exercised } = this;
    return this.#own.filter((says) => (exercised[says] ?? 0) === 0);
  }

  take({ plan, records, judgement, endedAtMs, traceHash }: SimulationRun): void {
    this.#tally.take({
      seed: plan.seed,
      traceHash,
      simulatedMs: endedAtMs,
      events: records.filter(({ type }) => type === 'turn').length,
      isFaultFree: plan.nemeses.length === 0,
      violations: judgement.violations,
      exercised: judgement.exercised,
      faults: faultsOf(records),
      marks: [],
    });
  }

  fail(shrunk: Shrunk): void {
    this.#failures.push(failureOf(shrunk));
    this.#shrunk.push(shrunk);
  }

  /**
   * A failure as a page of HTML that needs nothing but itself: the run in the inspector, with the nearest run
   * that holds. `folder`: where the built page is, if not at its usual place. @throws {RangeError} when there is no such failure @throws {RuntimeError} PACKAGE_MISSING
   */
  async page(index = 0, folder?: string): Promise<string> {
    const shrunk = this.#shrunk[index];
    if (shrunk === undefined)
      throw new RangeError(`There is no failure ${index}: there are ${this.#shrunk.length}.`);
    return pageOf(shrunk, this.#machines, folder);
  }

  /** Names the file in what is told of the failures. */
  writtenTo(file: string): void {
    this.#pageFile = file;
  }

  /** For people. */
  text(): string {
    const { runs, faultFreeRuns, simulatedMs, faults } = this.#tally.figures();
    const all = Object.values(faults);
    const begun = all.reduce((sum, { injected }) => sum + injected, 0);
    const effective = all.reduce((sum, fault) => sum + fault.effective, 0);
    const hours = (simulatedMs / 3_600_000).toFixed(1);
    const lines = [
      `${count(runs, 'run')} (${faultFreeRuns} without faults), ${hours} h simulated, ${count(begun, 'fault')}, ${effective} of them changed something`,
      ...this.neverExercised.map((says) => `never exercised: "${says}"`),
      ...this.#failures.map(textOf),
    ];
    if (this.#failures.length === 0) lines.push('No invariant was broken.');
    if (this.#pageFile !== undefined) lines.push(`The run as a page: ${this.#pageFile}`);
    return lines.join('\n');
  }

  /** For tests. @throws {RuntimeError} INVARIANT_BROKEN when there is a failure */
  assertNone(): void {
    if (this.#failures.length > 0) throw new RuntimeError('INVARIANT_BROKEN', this.text());
  }
}

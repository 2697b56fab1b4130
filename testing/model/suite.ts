/**
 * Suite: the test cases for one machine, in the order in which they find most, up to a number of steps.
 *
 * First every step that changes something, deadlines at their last moment before and at their moment;
 * then every event where it is ignored; then events and deadlines of one instant in both orders; then events
 * that move a deadline away again and again, until another one comes; then walks that prefer the rare. What is expected is computed from the machine when a case is played.
 */

import type { AnyStateMachine } from 'xstate';
import { type Graph, type GraphBounds, graphOf, Keys, setTo } from './graph.ts';
import { type GivenSamples, type Samples, samplesFor } from './samples.ts';
import type { TestCase, TestStep } from './step.ts';
import { Subject } from './subject.ts';
import { changes, ignored, titleOf, tour } from './tour.ts';
import { walks } from './walks.ts';

export const PHASES = ['transitions', 'ignored events', 'ties', 'holds', 'walks'] as const;
export type Phase = (typeof PHASES)[number];

export interface SuiteOptions extends GraphBounds {
  readonly samples?: GivenSamples;
  readonly seed?: number;
  readonly phases?: readonly Phase[];
  /** Steps of one case: long ones save ways, short ones can be read. Default 40, and 200 of ignored events. */
  readonly caseStepsMax?: number;
  /** Walks in a row that did nothing new, after which there are no more. Default 40. */
  readonly quietMax?: number;
}

export interface PhasedCase extends TestCase {
  readonly phase: Phase;
}

const WALK_STEPS = 120;
/** Steps in which an event holds a deadline off. */
const HOLD_STEPS = 80;

export class Suite {
  readonly machine: AnyStateMachine;
  readonly samples: Samples;
  readonly graph: Graph;
  /** Stands at moments of the graph, which belong to its chart. */
  readonly #explorer: Subject;
  readonly #seed: number;
  readonly #phases: readonly Phase[];
  readonly #caseStepsMax: number | undefined;
  readonly #quietMax: number | undefined;

  constructor(machine: AnyStateMachine, options: SuiteOptions = {}) {
    const { samples, seed = 1, phases = PHASES, caseStepsMax, quietMax, ...bounds } = options;
    this.machine = machine;
    this.samples = samplesFor(machine, samples);
    this.#explorer = new Subject(machine);
    this.graph = graphOf(this.#explorer, this.samples, bounds);
    this.#seed = seed;
    this.#phases = phases;
    this.#caseStepsMax = caseStepsMax;
    this.#quietMax = quietMax;
  }

  /** Cases of `stepsMax` steps together; the last one may be cut. */
  *cases(stepsMax: number): Generator<PhasedCase> {
    let left = stepsMax;
    for (const phase of this.#phases) {
      for (const one of this.#casesOf(phase)) {
        if (left <= 0) return;
        const steps = one.steps.slice(0, left);
        left -= steps.length;
        yield { ...one, phase, steps };
      }
    }
  }

  #casesOf(phase: Phase): Iterable<TestCase> {
    const subject = new Subject(this.machine);
    switch (phase) {
      case 'transitions':
        return tour(subject, this.samples, this.graph, changes, {
          title: 'moves',
          ...(this.#caseStepsMax !== undefined && { stepsMax: this.#caseStepsMax }),
        });
      case 'ignored events':
        return tour(subject, this.samples, this.graph, ignored, {
          title: 'stays',
          stepsMax: this.#caseStepsMax ?? 200,
        });
      case 'ties':
        return this.#ties();
      case 'holds':
        return this.#holds();
      case 'walks':
        return walks(subject, this.samples, {
          seed: this.#seed,
          stepsMax: WALK_STEPS,
          title: 'walks',
          ...(this.#quietMax !== undefined && { quietMax: this.#quietMax }),
        });
    }
  }

  /** Every event at the instant of a deadline, before it: the other order is among the moves. */
  *#ties(): Generator<TestCase> {
    const subject = this.#explorer;
    for (const situation of this.graph.situations.values()) {
      if (!situation.isActive) continue;
      for (const event of this.samples.events) {
        setTo(subject, situation, this.samples);
        const due = subject.earliest;
        if (due === undefined || due.dueAt <= subject.at) break;
        const late: TestStep = { type: 'send', event, lateMs: due.dueAt - subject.at };
        const steps = [...situation.way, late];
        yield { input: situation.input, title: `ties: ${titleOf([late])}`, steps };
      }
    }
  }

  /** Every event that moves the next deadline away, sent a millisecond before it, until something else happens. */
  *#holds(): Generator<TestCase> {
    const subject = this.#explorer;
    const keys = new Keys(this.samples);
    for (const situation of this.graph.situations.values()) {
      if (!situation.isActive) continue;
      for (const event of this.samples.events) {
        setTo(subject, situation, this.samples);
        const [name, key] = [subject.earliest?.id, keys.of(subject)];
        const steps: TestStep[] = [];
        while (
          subject.earliest?.id === name &&
          keys.of(subject) === key &&
          steps.length < HOLD_STEPS
        ) {
          const left = subject.earliest === undefined ? 0 : subject.earliest.dueAt - subject.at;
          if (left < 2) break;
          for (const step of [
            { type: 'advance', byMs: left - 1 },
            { type: 'send', event },
          ] as const) {
            subject.perform(step);
            steps.push(step);
          }
        }
        if (steps.length < 4) continue;
        const due = subject.earliest;
        if (due !== undefined)
          steps.push({ type: 'advance', byMs: Math.max(0, due.dueAt - subject.at) });
        const { input, way } = situation;
        yield { input, title: `holds: ${titleOf(steps)}`, steps: [...way, ...steps] };
      }
    }
  }
}

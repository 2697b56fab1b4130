/**
 * Suite: the test cases for one machine, in the order in which they find most, up to a number of steps.
 *
 * First one step of each kind, of those that change something and of events that are ignored; then all the
 * others, events and deadlines of one instant in both orders, and events that move a deadline away again and
 * again, until another one comes. Walks that prefer the rare take their share from the beginning: in a
 * large machine they are where no tour comes for long. Where only a part of the machine can be seen, suffixes
 * show the rest. What is expected is computed from the machine when a case is played.
 */

import type { AnyStateMachine } from 'xstate';
import { type Graph, type GraphBounds, graphOf, Keys, type Situation, setTo } from './graph.ts';
import { mixed, type Part, Source } from './mix.ts';
import { notingCopy } from './noting.ts';
import type { Oracle } from './observation.ts';
import { type GivenSamples, type Samples, samplesFor } from './samples.ts';
import type { SentEvent, TestCase, TestStep } from './step.ts';
import { Subject } from './subject.ts';
import { suffixes } from './suffixes.ts';
import { changes, ignored, titleOf, tour, type Wanted } from './tour.ts';
import { walks } from './walks.ts';

export const PHASES = [
  'transitions',
  'ignored events',
  'ties',
  'holds',
  'walks',
  'suffixes',
] as const;
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

/** Steps of a case. */
const MOVES_STEPS = 40;
const STAYS_STEPS = 200;
const WALKS_STEPS = [30, 60, 120];
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
    const { noting, found } = notingCopy(machine);
    this.#explorer = new Subject(noting);
    this.graph = graphOf(this.#explorer, this.samples, bounds, found.hits);
    this.#seed = seed;
    this.#phases = phases;
    this.#caseStepsMax = caseStepsMax;
    this.#quietMax = quietMax;
  }

  /**
   * Cases of `stepsMax` steps together; the last one may be cut. Where less than all can be seen, suffixes are
   * among them.
   */
  *cases(stepsMax: number, oracle: Oracle = 'full'): Generator<PhasedCase> {
    let left = stepsMax;
    for (const one of mixed(this.#rounds(oracle))) {
      if (left <= 0) return;
      const steps = one.steps.slice(0, left);
      left -= steps.length;
      yield { ...one, steps };
    }
  }

  /** A case for one step of each kind, whatever the phases are, by the very way on which it was found. */
  *opening(): Generator<TestCase> {
    yield* this.#births();
    for (const { input, way, edges } of this.graph.situations.values())
      for (const { step, isFirst } of edges)
        if (isFirst) yield { input, title: `first: ${titleOf([step])}`, steps: [...way, step] };
  }

  #rounds(oracle: Oracle): Array<Array<Part<PhasedCase>>> {
    const hidden = oracle === 'full' ? [] : suffixes(this.graph, oracle);
    const walking = this.#sourceOf('walks', this.#walks());
    const moves = (isFirst: boolean): Source<PhasedCase> =>
      this.#tour('transitions', (edge) => edge.isFirst === isFirst && changes(edge));
    const stays = (isFirst: boolean): Source<PhasedCase> =>
      this.#tour('ignored events', (edge) => edge.isFirst === isFirst && ignored(edge));
    return [
      [{ source: this.#sourceOf('transitions', this.#births()), share: 1 }],
      [
        { source: moves(true), share: 4 },
        { source: walking, share: 1, accompanies: true },
      ],
      [
        { source: stays(true), share: 2 },
        { source: walking, share: 1, accompanies: true },
      ],
      [
        { source: this.#sourceOf('suffixes', hidden), share: 4 },
        { source: moves(false), share: 4 },
        { source: stays(false), share: 2 },
        { source: this.#sourceOf('ties', this.#ties()), share: 1 },
        { source: this.#sourceOf('holds', this.#holds()), share: 1 },
        { source: walking, share: 2 },
      ],
    ];
  }

  /** Nothing of a phase that is not wanted. */
  #sourceOf(phase: Phase, cases: Iterable<TestCase>): Source<PhasedCase> {
    return new Source(this.#phases.includes(phase) ? named(phase, cases) : []);
  }

  #tour(phase: 'transitions' | 'ignored events', wanted: Wanted): Source<PhasedCase> {
    const [title, length] =
      phase === 'transitions' ? ['moves', MOVES_STEPS] : ['stays', STAYS_STEPS];
    const stepsMax = this.#caseStepsMax ?? length;
    const subject = new Subject(this.machine);
    return this.#sourceOf(
      phase,
      tour(subject, this.samples, this.graph, wanted, { title, stepsMax }),
    );
  }

  /** Inputs with which it ends, or throws, as it is spawned: no tour goes there. */
  *#births(): Generator<TestCase> {
    for (const [input, key] of this.graph.roots)
      if (this.graph.situations.get(key)?.isActive === false)
        yield { input, title: 'is spawned', steps: [] };
  }

  #walks(): Iterable<TestCase> {
    return walks(new Subject(this.machine), this.samples, {
      seed: this.#seed,
      lengths: WALKS_STEPS,
      title: 'walks',
      ...(this.#quietMax !== undefined && { quietMax: this.#quietMax }),
    });
  }

  /** Every event at the instant of a deadline, before it: the other order is among the moves. */
  *#ties(): Generator<TestCase> {
    const subject = this.#explorer;
    for (const situation of this.graph.situations.values()) {
      for (const event of this.#eventsIn(situation)) {
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
      for (const event of this.#eventsIn(situation)) {
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

  #eventsIn(situation: Situation): readonly SentEvent[] {
    if (!situation.isActive) return [];
    setTo(this.#explorer, situation, this.samples);
    return this.samples.eventsAt(this.#explorer.snapshot.context, this.#explorer.at);
  }
}

function* named(phase: Phase, cases: Iterable<TestCase>): Generator<PhasedCase> {
  for (const one of cases) yield { ...one, phase };
}

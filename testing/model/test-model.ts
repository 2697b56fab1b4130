/**
 * Test models in the shape of `@xstate/test`: paths with steps, and `path.test({ states, events })`.
 *
 * What moves a machine is more than events: a deadline comes as the event type `after.<state>.<delay>` and
 * the outcome of a promise or a child as `done.<child>` or `error.<child>`, each with an executor among
 * `events` like any other; where there is none, `after` waits for its `delayMs` in real time.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { type Graph, graphOf } from './graph.ts';
import { type GivenSamples, type Samples, samplesFor } from './samples.ts';
import { type SentEvent, type TestStep, wordsOf } from './step.ts';
import { Subject } from './subject.ts';
import { changes, tour } from './tour.ts';

export interface PathStep {
  readonly event: SentEvent;
  readonly state: AnyMachineSnapshot;
}

export interface PathParams {
  /** What must be seen in a state, by its key or its id (`#door.open`); those that match are all asked. */
  readonly states?: Readonly<Record<string, (state: AnyMachineSnapshot) => void | Promise<void>>>;
  /** What makes an event happen, by its type; `*` for all others. */
  readonly events?: Readonly<Record<string, (step: PathStep) => void | Promise<void>>>;
}

export interface TestPath {
  readonly description: string;
  readonly steps: readonly PathStep[];
  readonly state: AnyMachineSnapshot;
  readonly weight: number;
  /** @throws what an executor or a check of a state throws */
  test(params: PathParams): Promise<void>;
}

export interface TestModelOptions {
  readonly samples?: GivenSamples;
  /** Events with their payloads; instead of `samples.events`. */
  readonly events?: readonly SentEvent[];
}

export class TestModel {
  readonly machine: AnyStateMachine;
  readonly #samples: Samples;
  #graph: Graph | undefined;

  constructor(machine: AnyStateMachine, { samples = {}, events }: TestModelOptions = {}) {
    this.machine = machine;
    this.#samples = samplesFor(
      machine,
      events === undefined ? samples : bySamples(samples, events),
    );
  }

  /** One path to each situation, a shortest one; those that are part of another are left out. */
  getShortestPaths(): TestPath[] {
    const ways = [...this.#explored.situations.values()].map(({ input, way }) => ({ input, way }));
    const longest = ways.filter(
      ({ input, way }) => !ways.some((other) => other.input === input && isLonger(other.way, way)),
    );
    return longest.map(({ input, way }) => this.#path(input, way));
  }

  /** Few paths through every step that changes something. */
  getTransitionPaths(): TestPath[] {
    const cases = tour(new Subject(this.machine), this.#samples, this.#explored, changes, {
      title: 'path',
    });
    return [...cases].map(({ input, steps }) => this.#path(input, steps));
  }

  getPathsFromEvents(events: readonly SentEvent[]): TestPath[] {
    const [input = ''] = Object.keys(this.#samples.inputs);
    return [
      this.#path(
        input,
        events.map((event) => ({ type: 'send', event })),
      ),
    ];
  }

  get #explored(): Graph {
    this.#graph ??= graphOf(new Subject(this.machine), this.#samples);
    return this.#graph;
  }

  #path(input: string, way: readonly TestStep[]): TestPath {
    const subject = new Subject(this.machine);
    subject.begin(this.#samples.inputs[input]);
    const first = subject.snapshot;
    const steps: PathStep[] = [];
    for (const step of way) {
      const event = eventOf(step, subject);
      subject.perform(step);
      steps.push({ event, state: subject.snapshot });
    }
    const description = way.map(wordsOf).join(' → ');
    const state = subject.snapshot;
    const test = (params: PathParams): Promise<void> => walk(first, steps, params);
    return { description, steps, state, weight: steps.length, test };
  }
}

export function createTestModel(machine: AnyStateMachine, options?: TestModelOptions): TestModel {
  return new TestModel(machine, options);
}

async function walk(
  first: AnyMachineSnapshot,
  steps: readonly PathStep[],
  params: PathParams,
): Promise<void> {
  await check(first, params);
  for (const step of steps) {
    await execute(step, params);
    await check(step.state, params);
  }
}

async function execute(step: PathStep, { events = {} }: PathParams): Promise<void> {
  const { type, delayMs } = step.event;
  const run = events[type] ?? events['*'];
  if (run !== undefined) await run(step);
  else if (typeof delayMs === 'number')
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  else
    throw new Error(
      `Nothing makes "${type}" happen: give an executor for it, or for "*", in "events".`,
    );
}

async function check(state: AnyMachineSnapshot, { states = {} }: PathParams): Promise<void> {
  for (const [key, look] of Object.entries(states)) if (isIn(state, key)) await look(state);
}

/** True of a key such as `open` or `open.wide`, of an id such as `#door.open`, and of `*`. */
function isIn(state: AnyMachineSnapshot, key: string): boolean {
  if (key === '*') return true;
  const { _nodes: nodes } = state as unknown as {
    readonly _nodes: ReadonlyArray<{ readonly id: string; readonly path: readonly string[] }>;
  };
  return nodes.some(({ id, path }) => `#${id}` === key || path.join('.') === key);
}

function eventOf(step: TestStep, subject: Subject): SentEvent {
  switch (step.type) {
    case 'send':
      return step.event;
    case 'advance': {
      const name = subject.earliest?.id.replace(/^xstate\.after\.([^.]+)\.(.*)$/, 'after.$2.$1');
      return { type: name ?? 'after', delayMs: step.byMs };
    }
    case 'resolve':
      return { type: `done.${step.child}`, output: step.output };
    case 'reject':
      return { type: `error.${step.child}`, message: step.message };
    case 'restart':
      return { type: 'restart' };
  }
}

function bySamples(samples: GivenSamples, events: readonly SentEvent[]): GivenSamples {
  const payloads: Record<string, object[]> = {};
  for (const { type, ...payload } of events) payloads[type] = [...(payloads[type] ?? []), payload];
  return { ...samples, events: payloads };
}

const isLonger = (other: readonly TestStep[], way: readonly TestStep[]): boolean =>
  other.length > way.length && way.every((step, index) => other[index] === step);

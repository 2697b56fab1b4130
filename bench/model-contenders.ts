/**
 * Contenders of generated tests: ways to make test cases from a machine, all with the same samples and budget.
 *
 * Paths of `xstate/graph` are as it makes them by itself: of the events that a state declares, among which
 * deadlines and outcomes of promises are events like others, by XState's names, in no time. The `timed` ones are
 * given more than it has: each deadline is a step that lets exactly the time pass until it comes.
 */

import fc from 'fast-check';
import type { AnyStateMachine } from 'xstate';
import { getAdjacencyMap, getShortestPaths, getSimplePaths } from 'xstate/graph';
import { SeededRandom } from '../simulator/world/random.ts';
import { stepsFrom } from '../testing/model/graph.ts';
import { type Oracle, observed } from '../testing/model/observation.ts';
import type { Samples } from '../testing/model/samples.ts';
import type { SentEvent, TestCase, TestStep } from '../testing/model/step.ts';
import { type Moment, Subject } from '../testing/model/subject.ts';
import { Suite } from '../testing/model/suite.ts';
import { walks } from '../testing/model/walks.ts';
import type { CorpusEntry } from './model-corpus/entry.ts';

export type Contender = (entry: CorpusEntry, samples: Samples) => Iterable<TestCase>;

const GRAPH_STATES_MAX = 400;
/** Simple paths of a machine; with more of them that contender has no tests. */
const SIMPLE_PATHS_MAX = 100_000;
const WALK_STEPS = 60;

export const CONTENDERS: Readonly<Record<string, Contender>> = {
  ours: ({ machine, samples = {} }) =>
    new Suite(machine, { samples, quietMax: Number.POSITIVE_INFINITY }).cases(
      Number.MAX_SAFE_INTEGER,
    ),
  shortestByState: (entry, samples) =>
    graphPaths(entry, samples, 'full', getShortestPaths, declaredSteps),
  shortestByValue: (entry, samples) =>
    graphPaths(entry, samples, 'value', getShortestPaths, declaredSteps),
  simpleByValue: (entry, samples) =>
    graphPaths(entry, samples, 'value', getSimplePaths, declaredSteps),
  timedShortestByState: (entry, samples) =>
    graphPaths(entry, samples, 'full', getShortestPaths, stepsFrom),
  timedShortestByValue: (entry, samples) =>
    graphPaths(entry, samples, 'value', getShortestPaths, stepsFrom),
  uniformWalk: (entry, samples) => randomWalks(entry, samples, () => () => true),
  swarmWalk: (entry, samples) => randomWalks(entry, samples, swarm),
  rarityWalk: ({ machine }, samples) =>
    walks(new Subject(machine), samples, {
      seed: 1,
      lengths: [120],
      title: 'walks',
      quietMax: Number.POSITIVE_INFINITY,
    }),
  fastCheckCommands: commandRuns,
};

/** A state of the traversal: the steps that lead to it, played again when they are needed. */
interface Place {
  readonly steps: readonly TestStep[];
  /** Undefined where children run: then it is come to by its steps. */
  readonly moment: Moment | undefined;
  readonly key: string;
  readonly next: readonly TestStep[];
}

function graphPaths(
  { machine }: CorpusEntry,
  samples: Samples,
  oracle: Oracle,
  generate: typeof getShortestPaths,
  stepsOf: typeof stepsFrom,
): TestCase[] {
  const subject = new Subject(machine);
  const [[input, value] = ['', undefined]] = Object.entries(samples.inputs);
  let states = 0;
  const placed = (steps: readonly TestStep[]): Place => ({
    ...{ steps, moment: subject.moment(), key: observed(subject, oracle) },
    next: stepsOf(subject, samples),
  });
  const begun = (): Place => {
    subject.begin(value);
    return placed([]);
  };
  const logic = {
    transition: ({ steps, moment }: Place, step: TestStep) => {
      if (moment !== undefined) subject.standAt(moment);
      else {
        subject.begin(value);
        for (const one of steps) subject.perform(one);
      }
      subject.perform(step);
      return placed([...steps, step]);
    },
    getInitialSnapshot: begun,
    getPersistedSnapshot: (place: Place) => place,
  };
  const options = {
    fromState: begun(),
    events: ({ next }: Place) => next,
    serializeState: ({ key }: Place) => key,
    serializeEvent: JSON.stringify,
    stopWhen: () => {
      states += 1;
      return states > GRAPH_STATES_MAX;
    },
  };
  if (generate === getSimplePaths && areTooMany(getAdjacencyMap(logic as never, options as never)))
    return [];
  states = 0;
  const paths = generate(logic as never, options as never) as unknown as ReadonlyArray<{
    readonly state: Place;
  }>;
  return paths.map(({ state }, index) => ({ input, title: `path ${index}`, steps: state.steps }));
}

type Adjacency = Readonly<
  Record<string, { readonly transitions: Readonly<Record<string, { readonly state: unknown }>> }>
>;

/** True of machines with more simple paths than memory holds: `xstate/graph` makes all of them before the first is played. */
function areTooMany(map: unknown): boolean {
  const next = Object.entries(map as Adjacency).map(
    ([key, { transitions }]) =>
      [key, Object.values(transitions).map(({ state }) => (state as Place).key)] as const,
  );
  const after = new Map(next);
  const visited = new Set<string>();
  let paths = 0;
  const count = (key: string): void => {
    paths += 1;
    visited.add(key);
    for (const to of after.get(key) ?? [])
      if (paths <= SIMPLE_PATHS_MAX && !visited.has(to)) count(to);
    visited.delete(key);
  };
  const [first] = after.keys();
  if (first !== undefined) count(first);
  return paths > SIMPLE_PATHS_MAX;
}

/** The steps of `xstate/graph`: an event of each type that a state it is in declares, with its samples where there are some. */
function declaredSteps(subject: Subject, samples: Samples): TestStep[] {
  if (!subject.isActive) return [];
  const { snapshot, at } = subject;
  const { _nodes: nodes } = snapshot as unknown as {
    readonly _nodes: ReadonlyArray<{ readonly ownEvents: readonly string[] }>;
  };
  const events = samples.eventsAt(snapshot.context, at);
  return [...new Set(nodes.flatMap(({ ownEvents }) => ownEvents))].flatMap((declared) => {
    // It sends the wildcard itself, which XState refuses.
    const type = declared === '*' ? 'any.other' : declared;
    const given = events.filter((event) => event.type === type);
    return (given.length > 0 ? given : [{ type }]).map(
      (event) => ({ type: 'send', event }) as const,
    );
  });
}

/** What may be drawn in one walk. */
type Choice = (random: SeededRandom, steps: readonly TestStep[]) => (step: TestStep) => boolean;

function* randomWalks(
  { machine }: CorpusEntry,
  samples: Samples,
  choice: Choice,
): Generator<TestCase> {
  const random = new SeededRandom(1, 'contender');
  const inputs = Object.entries(samples.inputs);
  const subject = new Subject(machine);
  const drawn = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T;
  for (let number = 1; ; number++) {
    const [input, value] = drawn(inputs);
    subject.begin(value);
    const isChosen = choice(random, stepsFrom(subject, samples));
    const steps: TestStep[] = [];
    while (steps.length < WALK_STEPS && subject.isActive) {
      const all = stepsFrom(subject, samples);
      const chosen = all.filter(isChosen);
      if (all.length === 0) break;
      const step = drawn(chosen.length > 0 ? chosen : all);
      subject.perform(step);
      steps.push(step);
    }
    if (steps.length === 0) return;
    yield { input, title: `walk ${number}`, steps };
  }
}

/** Half of the event types, another half in each walk. */
const swarm: Choice = (random) => {
  const kept = new Map<string, boolean>();
  return (step) => {
    const name = step.type === 'send' ? step.event.type : step.type;
    const isKept = kept.get(name) ?? random.next() < 0.5;
    kept.set(name, isKept);
    return isKept;
  };
};

/** What a run of commands has done. */
interface Real {
  readonly subject: Subject;
  readonly steps: TestStep[];
}

function eventsAtFirst(machine: AnyStateMachine, samples: Samples): readonly SentEvent[] {
  const subject = new Subject(machine);
  subject.begin(Object.values(samples.inputs)[0]);
  return subject.isActive ? samples.eventsAt(subject.snapshot.context, subject.at) : [];
}

/** The event of that number, with the payload that it has where the machine stands. */
function eventStep(
  { snapshot, at }: Subject,
  samples: Samples,
  index: number,
): TestStep | undefined {
  const event = samples.eventsAt(snapshot.context, at)[index];
  return event && { type: 'send', event };
}

/** Runs of one call of fast-check. */
const COMMAND_RUNS = 50;

/**
 * Model-based commands of fast-check, as its guide writes them: one for each event, one that lets time pass to the next
 * deadline or by a time of chance, and one for each way a child may end.
 */
function* commandRuns({ machine }: CorpusEntry, samples: Samples): Generator<TestCase> {
  const inputs = Object.keys(samples.inputs);
  const step = (make: (subject: Subject) => TestStep | undefined): fc.Command<object, Real> => ({
    check: () => true,
    run: (_model, { subject, steps }) => {
      const one = subject.isActive ? make(subject) : undefined;
      if (one === undefined) return;
      subject.perform(one);
      steps.push(one);
    },
    toString: () => 'step',
  });
  const ended = (index: number): fc.Command<object, Real> =>
    step((subject) => {
      const outcomes = stepsFrom(subject, samples).filter(
        ({ type }) => type === 'resolve' || type === 'reject',
      );
      return outcomes[index % Math.max(1, outcomes.length)];
    });
  const commands = fc.commands(
    [
      ...eventsAtFirst(machine, samples).map((_, index) =>
        fc.constant(step((subject) => eventStep(subject, samples, index))),
      ),
      fc.constant(
        step(({ earliest, at }) =>
          earliest === undefined ? undefined : { type: 'advance', byMs: earliest.dueAt - at },
        ),
      ),
      fc.integer({ min: 1, max: 100_000 }).map((byMs) => step(() => ({ type: 'advance', byMs }))),
      fc.nat({ max: 7 }).map(ended),
    ],
    { maxCommands: WALK_STEPS, size: 'max' },
  );
  for (let seed = 1; ; seed++) {
    const runs = fc.sample(fc.tuple(fc.constantFrom(...inputs), commands), {
      seed,
      numRuns: COMMAND_RUNS,
    });
    let done = 0;
    for (const [input, list] of runs) {
      const real: Real = { subject: new Subject(machine), steps: [] };
      real.subject.begin(samples.inputs[input]);
      fc.modelRun(() => ({ model: {}, real }), list);
      done += real.steps.length;
      if (real.steps.length > 0) yield { input, title: `commands ${seed}`, steps: real.steps };
    }
    if (done === 0) return;
  }
}

/**
 * Graph of a machine: the situations that can be reached, and what every step does in each of them.
 *
 * Breadth first, so the first way to a situation is a shortest one; a large machine is looked at state by
 * state (frontier.ts). Two moments are one situation
 * when they agree in the state, in the order of their deadlines, in the children that run, and in what guards
 * look at in the context: times, and the values of what only rises, do not tell them apart. It is
 * bounded, and where the bound is met it says which key of the context grew.
 */

import type { AnyMachineSnapshot } from 'xstate';
import { Frontier } from './frontier.ts';
import { Kinds, lookAt } from './kinds.ts';
import { observed, textOf } from './observation.ts';
import type { Samples } from './samples.ts';
import type { TestStep } from './step.ts';
import type { Moment, Subject } from './subject.ts';

export interface Edge {
  readonly step: TestStep;
  readonly to: string;
  /** False where nothing that can be seen or armed changed. */
  readonly isChange: boolean;
  /** True of the first that was found of its kind: an event taken in a state, with what it does there. */
  readonly isFirst: boolean;
}

export interface Situation {
  readonly key: string;
  readonly input: string;
  /** Undefined where the machine threw as it was spawned. */
  readonly snapshot: AnyMachineSnapshot | undefined;
  /** Steps from the beginning, a shortest way. */
  readonly way: readonly TestStep[];
  readonly moment: Moment | undefined;
  readonly edges: Edge[];
  /** False when nothing can follow: it ended, or it threw. */
  readonly isActive: boolean;
}

export interface Graph {
  readonly situations: ReadonlyMap<string, Situation>;
  /** Where each input begins, by its name. */
  readonly roots: ReadonlyMap<string, string>;
  /** Key of the context with the most values, where the bound was met. */
  readonly grew: string | undefined;
  /** Moments that were taken for a situation that was known already, though their contexts differ. */
  readonly merged: number;
}

export interface GraphBounds {
  readonly situationsMax?: number;
  readonly stepsMax?: number;
  /** Steps tried in all situations together. Default 40,000. */
  readonly triedMax?: number;
}

const SITUATIONS_MAX = 1_500;
const TRIED_MAX = 40_000;
const STEPS_MAX = 120;
/** Whole numbers up to here, or a little beyond those in guards, are told apart; greater ones by their magnitude. */
const EXACT_MAX = 24;
const EXACT_LIMIT = 300;
const TEXT_MAX = 60;

/** Keys that tell the moments of one machine apart. */
export class Keys {
  readonly #contextKeys: readonly string[];
  readonly #exactMax: number;
  readonly #given: Samples['key'];

  constructor({ contextKeys, numbers, key }: Pick<Samples, 'contextKeys' | 'numbers' | 'key'>) {
    this.#contextKeys = [...contextKeys];
    this.#given = key;
    const inGuards = numbers.filter((number) => number < EXACT_LIMIT);
    this.#exactMax = Math.max(EXACT_MAX, ...inGuards.map((number) => number + 2));
  }

  of(subject: Subject): string {
    if (subject.thrown !== undefined) return 'threw';
    const { snapshot } = subject;
    const deadlines = subject.deadlines
      .toSorted((one, other) => one.dueAt - other.dueAt)
      .map(({ session, id }) => `${session} ${id}`);
    const children = subject.openChildren().map(({ path }) => path);
    const seen = this.#given?.(snapshot.context, subject.at) ?? this.contextOf(snapshot);
    return textOf([snapshot.status, snapshot.value, deadlines, children, seen]);
  }

  contextOf({ context }: AnyMachineSnapshot): unknown[] {
    const values = (context ?? {}) as Record<string, unknown>;
    return this.#contextKeys.map((key) => [key, coarse(values[key], this.#exactMax)]);
  }
}

/** Every step that may follow. */
export function stepsFrom(subject: Subject, samples: Samples): TestStep[] {
  if (!subject.isActive) return [];
  const { context } = subject.snapshot;
  const steps: TestStep[] = samples
    .eventsAt(context, subject.at)
    .map((event) => ({ type: 'send', event }));
  for (const { event, lateMs } of samples.lateAt(context, subject.at))
    steps.push({ type: 'send', event, lateMs });
  const due = subject.earliest;
  if (due !== undefined) steps.push({ type: 'advance', byMs: due.dueAt - subject.at });
  for (const { path: child, src } of subject.openChildren()) {
    for (const output of samples.outputsOf(src)) steps.push({ type: 'resolve', child, output });
    steps.push({ type: 'reject', child, message: 'failed' });
  }
  return steps;
}

/** With what a noting copy notes, a step is a first one too where it takes a transition or a side of a guard first. */
export function graphOf(
  subject: Subject,
  samples: Samples,
  bounds: GraphBounds = {},
  hits: ReadonlyMap<string, number> = new Map(),
): Graph {
  const { situationsMax = SITUATIONS_MAX, stepsMax = STEPS_MAX, triedMax = TRIED_MAX } = bounds;
  const keys = new Keys(samples);
  const situations = new Map<string, Situation>();
  const roots = new Map<string, string>();
  const full = new Map<string, string>();
  const frontier = new Frontier<Situation>();
  let merged = 0;
  let isCut = false;

  const place = (input: string, way: readonly TestStep[], isPromising: boolean): string => {
    const key = keys.of(subject);
    const known = situations.get(key);
    if (known !== undefined) {
      if (full.get(key) !== observed(subject, 'full')) merged += 1;
      return key;
    }
    if (situations.size >= situationsMax || way.length > stepsMax) {
      isCut = true;
      return key;
    }
    full.set(key, observed(subject, 'full'));
    const found = {
      ...{ key, input, way, moment: subject.moment(), edges: [], isActive: subject.isActive },
      snapshot: subject.thrown === undefined ? subject.snapshot : undefined,
    };
    situations.set(key, found);
    frontier.add(found, isPromising);
    return key;
  };

  for (const [input, value] of Object.entries(samples.inputs)) {
    subject.begin(value);
    roots.set(input, place(input, [], true));
  }
  const kinds = new Kinds();
  let tried = 0;
  for (let found = frontier.next(); found !== undefined; found = frontier.next()) {
    const { input, way, edges, moment, key } = found;
    setTo(subject, found, samples);
    const steps = stepsFrom(subject, samples);
    const before = standingOf(subject);
    const look = lookAt(subject);
    tried += steps.length;
    if (tried > triedMax && way.length > 0) {
      isCut = true;
      break;
    }
    for (const step of steps) {
      setTo(subject, found, samples);
      const noted = hits.size;
      subject.perform(step);
      const isChange = !subject.isStillAt(moment) && standingOf(subject) !== before;
      const isNewKind = kinds.isFirst(step, look, isChange ? lookAt(subject) : undefined);
      const isFirst = isNewKind || hits.size > noted;
      // Deadlines are few and lead far.
      const isPromising = isFirst || step.type === 'advance';
      const to = isChange ? place(input, [...way, step], isPromising) : key;
      edges.push({ step, isChange, isFirst, to });
    }
  }
  return { situations, roots, merged, grew: isCut ? mostValues(situations, keys) : undefined };
}

/** Brings the subject to a situation. */
export function setTo(subject: Subject, { moment, input, way }: Situation, samples: Samples): void {
  if (moment !== undefined) {
    subject.standAt(moment);
    return;
  }
  subject.begin(samples.inputs[input]);
  for (const step of way) subject.perform(step);
}

/** All that a step may have changed. */
function standingOf(subject: Subject): string {
  const deadlines = subject.deadlines.map(({ session, id, dueAt }) => [session, id, dueAt]);
  const children = subject.openChildren().map(({ session }) => session);
  return observed(subject, 'full') + textOf([deadlines, children]);
}

function mostValues(situations: ReadonlyMap<string, Situation>, keys: Keys): string | undefined {
  const values = new Map<string, Set<string>>();
  for (const { snapshot } of situations.values()) {
    if (snapshot === undefined) continue;
    for (const [key, value] of keys.contextOf(snapshot) as ReadonlyArray<[string, unknown]>) {
      const seen = values.get(key) ?? new Set();
      values.set(key, seen.add(textOf(value)));
    }
  }
  const [most] = [...values].sort(([, one], [, other]) => other.size - one.size);
  return most?.[0];
}

function coarse(value: unknown, exactMax: number): unknown {
  if (typeof value === 'number') {
    if (Math.abs(value) <= exactMax || !Number.isFinite(value)) return value;
    return `${Math.sign(value)}·2^${Math.floor(Math.log2(Math.abs(value)))}`;
  }
  if (typeof value !== 'object' || value === null) return value;
  const text = textOf(value);
  if (text.length <= TEXT_MAX) return text;
  return Array.isArray(value) ? `${value.length} items` : Object.keys(value).join(' ');
}

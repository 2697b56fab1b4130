/**
 * Samples: the inputs a machine is spawned with, the events that are sent to it, and what its promises
 * come to.
 *
 * What a module exports is believed. Where it says nothing, payloads are learned: a copy that remembers
 * what it reads is walked at random, each field that is read is tried with values of every kind and with
 * the numbers and texts that stand in guards, and of payloads that do the same everywhere one is kept.
 */

import type { AnyStateMachine } from 'xstate';
import type { StandardSchema } from '../../runtime/actor.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { draftOf, statesIn } from './definition.ts';
import { learnedInput, usualValue } from './learned-input.ts';
import { observed, textOf } from './observation.ts';
import { Reads } from './reads.ts';
import { validPayloads } from './schema-payloads.ts';
import type { SentEvent } from './step.ts';
import { type Moment, Subject } from './subject.ts';

// biome-ignore lint/suspicious/noExplicitAny: the context is that of the machine.
type Context = any;
/** Every event that is worth a try where the context is such, at that time. */
export type EventsAt = (context: Context, at: number) => readonly SentEvent[];

export interface LateEvent {
  readonly event: SentEvent;
  readonly lateMs: number;
}

/** What a module may say about its machine. */
export interface GivenSamples {
  /** Inputs by a name of one's own. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Payloads by event type: what is left out has none, or is learned. Or a function that gives all events. */
  readonly events?: Readonly<Record<string, readonly object[]>> | EventsAt;
  /** Validators by event type, as the kind has them: payloads that they refuse are not sent. */
  readonly validate?: Readonly<Record<string, StandardSchema>>;
  /** Events that come late because the process was held up: time has passed, and no deadline was taken. */
  readonly late?: (context: Context, at: number) => ReadonlyArray<LateEvent>;
  /** What promises resolve with, by the name of their logic. */
  readonly outputs?: Readonly<Record<string, readonly unknown[]>>;
  /** What of a context tells situations apart, as data, instead of all that guards look at. */
  readonly key?: (context: Context, at: number) => unknown;
}

export interface Samples {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly eventTypes: readonly string[];
  /** False where an event is its type and nothing else. */
  readonly hasPayloads: boolean;
  readonly eventsAt: EventsAt;
  lateAt(context: Context, at: number): readonly LateEvent[];
  outputsOf(src: string | undefined): readonly unknown[];
  readonly key: GivenSamples['key'];
  /** Keys of the context that decide something, or from which such a key is reckoned. */
  readonly contextKeys: ReadonlySet<string>;
  /** Numbers that stand in guards. */
  readonly numbers: readonly number[];
  /** Event types whose payloads were guessed. */
  readonly learned: readonly string[];
  /** True where nobody gave an input and the machine reads one. */
  readonly isInputGuessed: boolean;
}

const ROUNDS = 2;
const PROBE_STEPS = 600;
const PROBE_MOMENTS = 60;
const PAYLOADS_MAX = 60;
const KEPT_MAX = 6;
/** A type that no machine declares, for wildcards. */
const ANY_OTHER = 'any.other';

export function samplesFor(machine: AnyStateMachine, given: GivenSamples = {}): Samples {
  const reads = new Reads(machine);
  const inputs = given.inputs ?? { '': learnedInput(reads) };
  const isInputGuessed = given.inputs === undefined && reads.inputPaths.length > 0;
  const said = { ...given, inputs };
  const eventTypes = eventTypesOf(machine);
  const { events, late, key } = given;
  const isFunction = typeof events === 'function';
  const payloads = isFunction ? {} : (events ?? {});
  const eventsAt = isFunction ? events : learnedEvents(machine, reads, said, payloads, eventTypes);
  if (isFunction) probe(new Subject(reads.machine), said, eventsAt, () => {});
  return {
    inputs,
    eventTypes,
    hasPayloads: isFunction || eventsAt({}, 0).some((event) => Object.keys(event).length > 1),
    eventsAt,
    lateAt: late ?? (() => []),
    outputsOf: (src) => given.outputs?.[src ?? ''] ?? [undefined],
    key,
    contextKeys: reads.contextKeys,
    numbers: reads.numbers,
    isInputGuessed,
    learned: isFunction
      ? []
      : eventTypes.filter(
          (type) => payloads[type] === undefined && (reads.eventFields.get(type)?.size ?? 0) > 0,
        ),
  };
}

type Payloads = Readonly<Record<string, readonly object[]>>;

/** Events with the payloads that are given, or that do something different somewhere. */
function learnedEvents(
  machine: AnyStateMachine,
  reads: Reads,
  said: GivenSamples & Pick<Samples, 'inputs'>,
  payloads: Payloads,
  types: readonly string[],
): EventsAt {
  const tried = (): SentEvent[] =>
    types.flatMap((type) => withPayloads(type, payloads, reads, said.validate?.[type]));
  let events = tried();
  for (let round = 0; round < ROUNDS; round++) {
    probe(
      new Subject(reads.machine),
      said,
      () => events,
      () => {},
    );
    events = tried();
  }
  const isGiven = ({ type }: SentEvent): boolean => payloads[type] !== undefined;
  const told = tellingApart(new Subject(machine), reads.contextKeys, said, events, isGiven);
  return () => told;
}

/** Event types that may come from outside; a wildcard stands for one that nobody declares. */
function eventTypesOf(machine: AnyStateMachine): string[] {
  const descriptors = [...statesIn(draftOf(machine).root)].flatMap(({ on }) => Object.keys(on));
  const types = descriptors
    .filter((type) => !type.startsWith('xstate.'))
    .map((type) => (type === '*' ? ANY_OTHER : type.replace(/\*$/, 'other')));
  return [...new Set(types)];
}

function withPayloads(
  type: string,
  payloads: Payloads,
  reads: Reads,
  schema: StandardSchema | undefined,
): SentEvent[] {
  const own = payloads[type];
  if (own !== undefined) return own.map((payload) => ({ type, ...payload }));
  const fields = [...(reads.eventFields.get(type) ?? [])];
  const values = candidates(reads);
  const usual = Object.fromEntries(fields.map((field) => [field, usualValue(field)]));
  const events: SentEvent[] = [{ type, ...usual }];
  if (fields.length > 0) events.push({ type });
  for (const field of fields)
    for (const value of values) events.push({ type, ...usual, [field]: value });
  return schema === undefined
    ? events.slice(0, PAYLOADS_MAX)
    : validPayloads(schema, events, values, PAYLOADS_MAX);
}

function candidates({ numbers, texts }: Reads): unknown[] {
  const around = numbers.flatMap((number) => [number - 1, number, number + 1]);
  return [...new Set<unknown>([0, 1, 2, ...around, -1, true, false, null, 'a', '', ...texts])];
}

/** Walks at random, and tells of every moment on the way. */
function probe(
  subject: Subject,
  { inputs, outputs = {} }: GivenSamples & Pick<Samples, 'inputs'>,
  eventsAt: EventsAt,
  seen: (subject: Subject) => void,
): void {
  const random = new SeededRandom(1, 'probe');
  const names = Object.keys(inputs);
  let left = 0;
  for (let step = 0; step < PROBE_STEPS; step++) {
    if (left === 0 || !subject.isActive) {
      subject.begin(inputs[names[Math.floor(random.next() * names.length)] as string]);
      left = 30;
      if (!subject.isActive) continue;
    }
    left -= 1;
    const due = subject.earliest;
    const [open] = subject.openChildren();
    const draw = random.next();
    if (due !== undefined && draw < 0.2)
      subject.perform({ type: 'advance', byMs: due.dueAt - subject.at });
    else if (open !== undefined && draw < 0.3) {
      const results = outputs[open.src ?? ''] ?? [undefined];
      const output = results[Math.floor(random.next() * results.length)];
      subject.perform({ type: 'resolve', child: open.path, output });
    } else if (open !== undefined && draw < 0.4)
      subject.perform({ type: 'reject', child: open.path, message: 'failed' });
    else {
      const events = eventsAt(subject.snapshot.context, subject.at);
      const event = events[Math.floor(random.next() * events.length)];
      if (event !== undefined) subject.perform({ type: 'send', event });
    }
    seen(subject);
  }
}

/** Of each type the payloads that do something different somewhere; given ones are all kept. */
function tellingApart(
  subject: Subject,
  contextKeys: ReadonlySet<string>,
  said: GivenSamples & Pick<Samples, 'inputs'>,
  events: readonly SentEvent[],
  isGiven: (event: SentEvent) => boolean,
): SentEvent[] {
  const guessed = events.filter((event) => !isGiven(event));
  const counts = new Map<string, number>();
  for (const { type } of guessed) counts.set(type, (counts.get(type) ?? 0) + 1);
  if ([...counts.values()].every((count) => count === 1)) return [...events];
  const moments = new Map<string, Moment>();
  probe(
    subject,
    said,
    () => events,
    () => {
      const moment = subject.isActive ? subject.moment() : undefined;
      if (moment !== undefined && moments.size < PROBE_MOMENTS)
        moments.set(observed(subject, 'value'), moment);
    },
  );
  const kept: SentEvent[] = events.filter(isGiven);
  const seenOf = new Map<string, Set<string>>();
  for (const event of guessed) {
    const seen = seenOf.get(event.type) ?? new Set();
    seenOf.set(event.type, seen);
    const signature = signatureOf(subject, contextKeys, [...moments.values()], event);
    if (seen.has(signature) || seen.size >= KEPT_MAX) continue;
    seen.add(signature);
    kept.push(event);
  }
  return kept;
}

/** What an event does at these moments: where it leads, and what guards will see of it. */
function signatureOf(
  subject: Subject,
  contextKeys: ReadonlySet<string>,
  moments: readonly Moment[],
  event: SentEvent,
): string {
  const seen = moments.map((moment) => {
    subject.standAt(moment);
    subject.perform({ type: 'send', event });
    const context = (subject.snapshot.context ?? {}) as Record<string, unknown>;
    return observed(subject, 'value') + textOf([...contextKeys].map((key) => context[key]));
  });
  return seen.join('\n');
}

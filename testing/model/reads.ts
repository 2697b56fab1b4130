/**
 * Reads of a machine: which keys of its context its guards look at, which fields of which events it uses,
 * which fields of its input, and which numbers and texts stand in its guards.
 *
 * They are found by running a copy whose functions are given objects that remember what is read. Nobody
 * has to describe a machine for it to be tested; who describes it (samples, inputs) is believed instead.
 */

import type { AnyStateMachine } from 'xstate';
import { type Draft, draftOf, rebuild, statesIn, transitionLists } from './definition.ts';

export interface InputPath {
  /** Keys with dots between them. */
  readonly path: string;
  readonly isMissing: boolean;
}

export class Reads {
  /** Keys of the context that guards and delays look at. */
  readonly #decidingKeys = new Set<string>();
  /** Keys that are read to reckon another one. */
  readonly #sources = new Map<string, Set<ReadonlySet<string>>>();
  /** Fields that are used, by event type. */
  readonly eventFields = new Map<string, Set<string>>();
  /** Paths of its input that are read, in order; of an object that is copied, its own. */
  readonly inputPaths: InputPath[] = [];
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
  /** A machine like the one given, which remembers what it reads. */
  readonly machine: AnyStateMachine;

  constructor(machine: AnyStateMachine) {
    const draft = draftOf(machine);
    const { numbers, texts } = literalsIn(draft);
    this.numbers = numbers;
    this.texts = texts;
    this.#instrument(draft);
    this.machine = rebuild(draft);
  }

  /** Keys of the context that guards and delays look at, and those from which they are reckoned. */
  get contextKeys(): ReadonlySet<string> {
    const keys = new Set(this.#decidingKeys);
    for (const key of keys)
      for (const read of this.#sources.get(key) ?? []) for (const source of read) keys.add(source);
    return keys;
  }

  #instrument({ root, implementations }: Draft): void {
    const { guards, actions, delays } = implementations;
    for (const [name, guard] of Object.entries(guards)) guards[name] = this.#guard(guard);
    for (const [name, action] of Object.entries(actions)) actions[name] = this.#action(action);
    for (const [name, delay] of Object.entries(delays))
      delays[name] = this.#watched(delay, this.#decidingKeys);
    for (const state of statesIn(root)) {
      state.entry = state.entry.map((action) => this.#action(action));
      state.exit = state.exit.map((action) => this.#action(action));
      for (const { list } of transitionLists(state)) {
        for (const transition of list) {
          if (transition.guard !== undefined) transition.guard = this.#guard(transition.guard);
          transition.actions = transition.actions.map((action) => this.#action(action));
        }
      }
    }
    const { context } = root.rest as { readonly context?: unknown };
    if (typeof context === 'function')
      (root.rest as { context: unknown }).context = (args: { readonly input: unknown }) =>
        context({ ...args, input: this.#deep(args.input ?? {}, '') });
  }

  #guard(guard: unknown): unknown {
    if (typeof guard === 'object' && guard !== null)
      return { ...guard, ...this.#params(guard, this.#decidingKeys) };
    if (typeof guard !== 'function') return guard;
    if (!('check' in guard)) return this.#watched(guard, this.#decidingKeys);
    const { guards } = guard as { readonly guards?: readonly unknown[] };
    if (guards === undefined) return guard;
    return Object.assign(() => false, guard, { guards: guards.map((one) => this.#guard(one)) });
  }

  #action(action: unknown): unknown {
    if (typeof action === 'object' && action !== null)
      return { ...action, ...this.#params(action, undefined) };
    if (typeof action !== 'function' || !('resolve' in action)) return action;
    const changed: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(action)) {
      if (BUILT_IN.has(key)) continue;
      if (key === 'assignment') changed[key] = this.#assignment(value);
      else if (typeof value === 'function')
        changed[key] = this.#watched(value, key === 'delay' ? this.#decidingKeys : undefined);
    }
    return Object.assign(() => {}, action, changed);
  }

  /** An assignment, whole or key by key, which remembers what each key is reckoned from. */
  #assignment(assignment: unknown): unknown {
    if (typeof assignment === 'function') {
      const read = new Set<string>();
      const run = this.#watched(assignment, read) as (...args: unknown[]) => object;
      return (...args: unknown[]) => {
        const changes = run(...args);
        for (const key of Object.keys(changes ?? {})) this.#reckoned(key, read);
        return changes;
      };
    }
    const entries = Object.entries(assignment as object).map(([key, value]) => {
      const read = new Set<string>();
      this.#reckoned(key, read);
      return [key, this.#watched(value, read)];
    });
    return Object.fromEntries(entries);
  }

  /** The set may go on growing: it is looked at when keys are asked for. */
  #reckoned(key: string, from: ReadonlySet<string>): void {
    const known = this.#sources.get(key) ?? new Set();
    this.#sources.set(key, known.add(from));
  }

  #params(described: object, into: Set<string> | undefined): object {
    const { params } = described as { readonly params?: unknown };
    return typeof params === 'function' ? { params: this.#watched(params, into) } : {};
  }

  #watched(run: unknown, into: Set<string> | undefined): unknown {
    if (typeof run !== 'function') return run;
    return (args: Record<string, unknown>, ...rest: unknown[]) => {
      const { context, event } = args;
      return run(
        {
          ...args,
          ...(into !== undefined && { context: this.#remembering(context, into) }),
          event: this.#remembering(event, this.#fieldsOf(event)),
        },
        ...rest,
      );
    };
  }

  #fieldsOf(event: unknown): Set<string> {
    const { type } = event as { readonly type: string };
    let fields = this.eventFields.get(type);
    if (fields === undefined) {
      fields = new Set();
      this.eventFields.set(type, fields);
    }
    return fields;
  }

  /** An input that remembers what is read of it, however deep. */
  #deep(value: unknown, prefix: string): unknown {
    if (!isPlain(value)) return value;
    return new Proxy(value, {
      get: (of, key, receiver) => {
        const found: unknown = Reflect.get(of, key, receiver);
        if (typeof key !== 'string' || GIVEN.has(key)) return found;
        const path = `${prefix}${key}`;
        this.inputPaths.push({ path, isMissing: found === undefined });
        return this.#deep(found, `${path}.`);
      },
      ownKeys: (of) => {
        this.inputPaths.push({ path: prefix, isMissing: false });
        return Reflect.ownKeys(of);
      },
    });
  }

  #remembering(value: unknown, into: Set<string>): unknown {
    const target = value === undefined ? {} : value;
    if (typeof target !== 'object' || target === null) return value;
    return new Proxy(target, {
      get: (of, key, receiver) => {
        if (typeof key === 'string' && !GIVEN.has(key)) into.add(key);
        return Reflect.get(of, key, receiver);
      },
      ownKeys: (of) => {
        for (const key of Object.keys(of)) if (!GIVEN.has(key)) into.add(key);
        return Reflect.ownKeys(of);
      },
    });
  }
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

/** Functions of XState's own on an action. */
const BUILT_IN = new Set(['resolve', 'execute', 'retryResolve']);
/** What the engine puts on an event. */
const GIVEN = new Set(['type', 'at', 'dueAt', 'ageMs', 'toJSON', 'output', 'error', 'actorId']);
const LITERALS_MAX = 12;

/** Numbers and texts in the text of guards and delays: values that decide something. */
function literalsIn({ root, implementations }: Draft): {
  readonly numbers: number[];
  readonly texts: string[];
} {
  const sources: string[] = [];
  const add = (guard: unknown): void => {
    if (typeof guard !== 'function') return;
    const { guards } = guard as { readonly guards?: readonly unknown[] };
    if (guards !== undefined) for (const one of guards) add(one);
    else sources.push(Function.prototype.toString.call(guard));
  };
  for (const guard of Object.values(implementations.guards)) add(guard);
  for (const state of statesIn(root))
    for (const { list } of transitionLists(state)) for (const { guard } of list) add(guard);
  const text = sources.join('\n');
  const numbers = [...text.matchAll(/(?<![\w.])\d[\d_]*(?:\.\d+)?/g)].map(([number]) =>
    Number(number.replaceAll('_', '')),
  );
  const texts = [...text.matchAll(/(['"`])([^'"`\n$]{1,40})\1/g)].map(
    ([, , inside]) => inside ?? '',
  );
  return {
    numbers: [...new Set(numbers)].slice(0, LITERALS_MAX),
    texts: [...new Set(texts)].slice(0, LITERALS_MAX),
  };
}

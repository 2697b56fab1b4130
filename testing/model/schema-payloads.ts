/**
 * Payloads that a validator takes: guesses, mended where it says what is wrong with them, and the values at the
 * edges of its JSON Schema, where it has one.
 *
 * What a validator refuses never comes to its machine, so it is no test of it. Validators follow standardschema.dev.
 */

import type { StandardSchema } from '../../runtime/actor.ts';
import { usualValue } from './learned-input.ts';
import type { SentEvent } from './step.ts';

interface Issue {
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>;
}

interface Described {
  readonly jsonSchema?: { input?(options: { readonly target: string }): unknown };
}

/** Fields that may have to be mended before an event is taken. */
const MENDS_MAX = 40;
const DEPTH_MAX = 12;

/** Those of the guesses that can be made right, and each of them with other values, `max` at most. */
export function validPayloads(
  schema: StandardSchema,
  guesses: readonly SentEvent[],
  values: readonly unknown[],
  max: number,
): SentEvent[] {
  const all = [...new Set([...edgeValues(schema), ...values])];
  const found = new Map<string, SentEvent>();
  const keep = (event: SentEvent | undefined): void => {
    if (event !== undefined && found.size < max) found.set(JSON.stringify(event), event);
  };
  const [first] = guesses;
  const usual = first === undefined ? undefined : mended(schema, first, all);
  keep(usual);
  for (const key of Object.keys(usual ?? {}).filter((one) => one !== 'type'))
    for (const value of [undefined, ...all]) {
      const { [key]: _, ...rest } = usual as SentEvent;
      const other = (value === undefined ? rest : { ...rest, [key]: value }) as SentEvent;
      if (issuesOf(schema, other).length === 0) keep(other);
    }
  for (const guess of guesses) keep(mended(schema, guess, all));
  return [...found.values()];
}

/** Undefined where nothing that is tried satisfies the validator. */
function mended(
  schema: StandardSchema,
  event: SentEvent,
  values: readonly unknown[],
): SentEvent | undefined {
  let now = event;
  for (let mends = 0; mends < MENDS_MAX; mends++) {
    const [issue] = issuesOf(schema, now);
    if (issue === undefined) return now;
    const path = pathOf(issue);
    const last = path.at(-1);
    if (last === undefined || path[0] === 'type') return undefined;
    const better = [usualValue(String(last)), ...values, {}, [], [{}]]
      .map((value) => withValue(now, path, value) as SentEvent)
      .find((one) => !issuesOf(schema, one).some((other) => isSame(pathOf(other), path)));
    if (better === undefined) return undefined;
    now = better;
  }
  return undefined;
}

function issuesOf(schema: StandardSchema, event: SentEvent): readonly Issue[] {
  try {
    const result = schema['~standard'].validate(event);
    if (!('then' in result)) return (result.issues ?? []) as readonly Issue[];
    // Nobody would wait for it: the engine refuses such validators too.
    result.then(undefined, () => {});
  } catch {
    // It refuses what it throws at.
  }
  return [{}];
}

const pathOf = ({ path = [] }: Issue): PropertyKey[] =>
  path.map((step) => (typeof step === 'object' ? step.key : step));

const isSame = (one: readonly PropertyKey[], other: readonly PropertyKey[]): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index]);

function withValue(into: unknown, [key, ...rest]: readonly PropertyKey[], value: unknown): unknown {
  if (key === undefined) return value;
  const isList = Array.isArray(into);
  const own =
    typeof into === 'object' && into !== null ? (into as Record<PropertyKey, unknown>) : {};
  const inner = withValue(own[key], rest, value);
  if (!isList) return { ...own, [key]: inner };
  const copy: unknown[] = [...into];
  copy[Number(key)] = inner;
  return copy;
}

/** Values that its JSON Schema names, and numbers and texts at its bounds. */
function edgeValues(schema: StandardSchema): unknown[] {
  let described: unknown;
  try {
    const { jsonSchema } = schema['~standard'] as Described;
    described = jsonSchema?.input?.({ target: 'draft-2020-12' });
  } catch {
    // Not every validator can be written as JSON Schema.
  }
  const values: unknown[] = [];
  const look = (at: unknown, depth: number): void => {
    if (typeof at !== 'object' || at === null || depth > DEPTH_MAX) return;
    if (!Array.isArray(at)) values.push(...namedIn(at as Record<string, unknown>));
    for (const inner of Object.values(at)) look(inner, depth + 1);
  };
  look(described, 0);
  return values;
}

function namedIn(at: Readonly<Record<string, unknown>>): unknown[] {
  const { enum: options, examples, minimum, maximum, minLength, maxLength } = at;
  const { exclusiveMinimum, exclusiveMaximum } = at;
  const texts = [minLength, maxLength].flatMap((length) =>
    typeof length === 'number' && length <= TEXT_MAX ? ['a'.repeat(length)] : [],
  );
  return [
    ...('const' in at ? [at.const] : []),
    ...('default' in at ? [at.default] : []),
    ...[options, examples].flatMap((list) => (Array.isArray(list) ? list : [])),
    ...[minimum, maximum].filter((bound) => typeof bound === 'number'),
    ...(typeof exclusiveMinimum === 'number' ? [exclusiveMinimum + 1] : []),
    ...(typeof exclusiveMaximum === 'number' ? [exclusiveMaximum - 1] : []),
    ...texts,
  ];
}

const TEXT_MAX = 1_000;

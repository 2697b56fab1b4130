/**
 * Issues of a value that a schema does not take: path and reason, with a suggestion for an unknown key.
 */

import type { ZodError, ZodType } from 'zod';
import { findLikelyOf } from '../runtime/base/suggestion.ts';

export interface SchemaIssue {
  readonly path: readonly PropertyKey[];
  /** Undefined for a key that the schema does not know, with which the path ends. */
  readonly what?: string;
  /** The key that was probably meant. */
  readonly likely?: string | undefined;
}

export function schemaIssues(schema: ZodType, error: ZodError): SchemaIssue[] {
  return error.issues.flatMap((issue): SchemaIssue[] => {
    const { path, message } = issue;
    if (issue.code !== 'unrecognized_keys') return [{ path, what: message }];
    const known = keysAt(schema, path);
    return issue.keys.map((key) => ({ path: [...path, key], likely: findLikelyOf(key, known) }));
  });
}

/** The issue in words that follow its path. */
export function whatOf({ what, likely }: SchemaIssue, noun = 'key'): string {
  if (what !== undefined) return `${what}.`;
  return `there is no such ${noun}${likely === undefined ? '.' : `; did you mean "${likely}"?`}`;
}

/** Parts of a schema, as zod describes them. */
interface Definition {
  readonly shape?: Readonly<Record<string, Described>>;
  readonly element?: Described;
  readonly valueType?: Described;
  readonly innerType?: Described;
  readonly in?: Described;
  readonly options?: readonly Described[];
}

interface Described {
  readonly def: unknown;
}

/** Keys that there may be at a place of a value. */
function keysAt(schema: Described, [name, ...rest]: readonly PropertyKey[]): string[] {
  const { shape, element, valueType, innerType, in: input, options } = schema.def as Definition;
  const around = innerType ?? input;
  if (around !== undefined) return keysAt(around, name === undefined ? [] : [name, ...rest]);
  if (options !== undefined)
    return options.flatMap((one) => keysAt(one, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return Object.keys(shape ?? {});
  const inner = element ?? valueType ?? shape?.[String(name)];
  return inner === undefined ? [] : keysAt(inner, rest);
}

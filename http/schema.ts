/** Values from outside, read through a schema: what is wrong is named by its field. */

import type { ZodType } from 'zod';
import { invalid } from './refusal.ts';

/** Characters of a field's name that are echoed. */
const FIELD_LENGTH_MAX = 64;

/** @throws {HttpRefusal} invalid */
export function read<TValue>(schema: ZodType<TValue>, value: unknown, prefix = ''): TValue {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0] as {
    readonly path: readonly PropertyKey[];
    readonly message: string;
    readonly code: string;
    readonly keys?: readonly string[];
  };
  const isUnknown = issue.code === 'unrecognized_keys';
  const path = isUnknown ? [...issue.path, issue.keys?.[0] ?? ''] : issue.path;
  const parts = [prefix, path.map(String).join('.')].filter((part) => part !== '');
  const field = parts.join('.') || 'body';
  throw invalid(
    isUnknown ? 'There is no such field.' : `${issue.message}.`,
    field.slice(0, FIELD_LENGTH_MAX),
  );
}

/** Values from outside, read through a schema: what is wrong is named by its field. */

import type { ZodType } from 'zod';
import { type SchemaIssue, schemaIssues, whatOf } from '../reading/schema.ts';
import { invalid } from './refusal.ts';

/** Characters of a field's name that are echoed. */
const FIELD_LENGTH_MAX = 64;

/** @throws {HttpRefusal} invalid */
export function read<TValue>(schema: ZodType<TValue>, value: unknown, prefix = ''): TValue {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = schemaIssues(schema, result.error) as [SchemaIssue];
  const parts = [prefix, issue.path.map(String).join('.')].filter((part) => part !== '');
  const field = (parts.join('.') || 'body').slice(0, FIELD_LENGTH_MAX);
  throw invalid(capitalized(whatOf(issue, 'field')), field);
}

function capitalized(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

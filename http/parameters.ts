/** Parameters in queries and headers: text that means a number, a duration, an id. */

import { type ZodType, z } from 'zod';
import { durationMs } from '../runtime/base/duration.ts';
import { invalid } from './refusal.ts';

/** `30s`, `1h30m`, or whole milliseconds. */
export const duration = z
  .string()
  .max(32)
  .transform((text, context) => {
    const ms = durationMs(/^\d+$/.test(text) ? Number(text) : text);
    if (ms !== undefined) return ms;
    context.addIssue({ code: 'custom', message: 'Write 250ms, 15m, 1h30m or milliseconds' });
    return z.NEVER;
  });

/** Number of entries that a page has at most. */
export const pageLimit = (max: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,5}$/, `must be 1 to ${max}`)
    .transform(Number)
    .refine((limit) => limit <= max, `must be 1 to ${max}`)
    .default(Math.min(100, max));

/** A whole number in a header. @throws {HttpRefusal} invalid */
export function parameter(
  schema: ZodType<number>,
  text: string | string[] | undefined,
  name: string,
): number | undefined {
  if (text === undefined || text === '') return undefined;
  const result = schema.safeParse(/^\d{1,15}$/.test(String(text)) ? Number(text) : Number.NaN);
  if (result.success) return result.data;
  throw invalid('It must be a whole number.', name);
}

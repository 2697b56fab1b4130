/** Breach of a schema by a message from another place: the first field that is wrong, and what is wrong with it. */

import type { ZodType } from 'zod';

export function schemaBreach(schema: ZodType, event: unknown): string | undefined {
  const checked = schema.safeParse(event);
  if (checked.success) return undefined;
  const [issue] = checked.error.issues;
  return `${issue?.path.map(String).join('.') || 'it'}: ${issue?.message}`;
}

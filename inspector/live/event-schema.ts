/**
 * JSON Schema of an event, for validators that can tell it.
 *
 * A validator of zod 4 tells it by itself; another one may have `toJSONSchema` or the JSON part of Standard Schema.
 * Of all others the page shows a plain field for JSON.
 */

interface Telling {
  readonly toJSONSchema?: () => unknown;
  readonly '~standard'?: { readonly jsonSchema?: { input?(options: object): unknown } };
}

export function schemaOf(validator: unknown): unknown {
  if (typeof validator !== 'object' || validator === null) return undefined;
  const telling = validator as Telling;
  try {
    const standard = telling['~standard']?.jsonSchema?.input?.({ target: 'draft-2020-12' });
    if (standard !== undefined) return standard;
    return typeof telling.toJSONSchema === 'function' ? telling.toJSONSchema() : undefined;
  } catch {
    // What JSON Schema cannot say is shown as a plain field.
    return undefined;
  }
}

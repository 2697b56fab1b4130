/**
 * Placeholders: `${item}`, `${item.a.b.0}` and, in the steps after the map, `${map.results}`.
 *
 * A text is as it is, any other value is compact JSON. Whatever else stands in `${…}` is left untouched.
 */

/** Placeholders that steps may have: none before the map. */
export type Scope = 'setup' | 'map' | 'reduce';

export interface Values {
  readonly item: unknown;
  /** Text for `${map.results}`. */
  readonly results: string;
}

/** A value that no command can be given. */
export class ValueError extends Error {}

/** As long as one argument or variable may safely be. */
export const VALUE_BYTES_MAX = 100_000;

const PATTERNS: Readonly<Record<Scope, RegExp>> = {
  setup: /(?!)/g,
  map: /\$\{item(?:\.[^{}$\s]+)?\}/g,
  reduce: /\$\{map\.results\}/g,
};

/** The placeholder that stands at this place of a text. */
export function placeholderAt(text: string, at: number, scope: Scope): string | undefined {
  if (text[at] !== '$') return undefined;
  const pattern = new RegExp(PATTERNS[scope], 'y');
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Replaces all placeholders literally. @throws {ValueError} */
export function replaceLiterally(text: string, scope: Scope, values: Values): string {
  return text.replace(PATTERNS[scope], (placeholder) => valueFor(placeholder, values));
}

/** @throws {ValueError} for a field that is not there, or a value that no command can be given */
export function valueFor(placeholder: string, { item, results }: Values): string {
  if (placeholder === '${map.results}') return results;
  const [, ...path] = placeholder.slice(2, -1).split('.');
  let value = item;
  for (const key of path) {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    if (!isThere) throw new ValueError(`${placeholder}: the item has no such field`);
    value = (value as Record<string, unknown>)[key];
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.includes('\0')) throw new ValueError(`${placeholder}: the value has a NUL byte`);
  if (Buffer.byteLength(text) > VALUE_BYTES_MAX)
    throw new ValueError(
      `${placeholder}: the value is larger than ${VALUE_BYTES_MAX} bytes; read it from $ESCAPEMENT_ITEM_FILE`,
    );
  return text;
}

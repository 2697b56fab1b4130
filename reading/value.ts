/** Values on their way from where people write them to what they mean: plain data that knows its place. */

/** A value, and its place: an offset in a text, or where else it came from. */
export type SourceValue<TPlace = number> = { readonly at: TPlace } & (
  | { readonly kind: 'scalar'; readonly scalar: string | number | boolean | null }
  | { readonly kind: 'list'; readonly items: ReadonlyArray<SourceValue<TPlace>> }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, SourceEntry<TPlace>> }
);

export interface SourceEntry<TPlace = number> {
  /** Place of the key. */
  readonly keyAt: TPlace;
  readonly value: SourceValue<TPlace>;
}

/** Gives plain data its places. Paths are `log.level`, `peers.0`. */
export function placed<TPlace>(
  value: unknown,
  placeOf: (path: string) => TPlace,
  path = '',
): SourceValue<TPlace> {
  const at = placeOf(path);
  const inside = (name: string | number): string => (path === '' ? `${name}` : `${path}.${name}`);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => placed(item, placeOf, inside(index)));
    return { kind: 'list', items, at };
  }
  if (typeof value !== 'object' || value === null)
    return { kind: 'scalar', scalar: (value ?? null) as string | number | boolean | null, at };
  const entries = Object.entries(value).map(([name, inner]) => {
    const entry = { keyAt: placeOf(inside(name)), value: placed(inner, placeOf, inside(name)) };
    return [name, entry] as const;
  });
  return { kind: 'map', entries: new Map(entries), at };
}

export function plainOf(source: SourceValue<unknown>): unknown {
  switch (source.kind) {
    case 'scalar':
      return source.scalar;
    case 'list':
      return source.items.map(plainOf);
    case 'map':
      return Object.fromEntries(
        [...source.entries].map(([name, { value }]) => [name, plainOf(value)]),
      );
  }
}

/** Places by path, of keys where a value has one: what is wrong with a value is mostly wrong with its line. */
export function* placesIn<TPlace>(
  source: SourceValue<TPlace>,
  path = '',
): Iterable<readonly [path: string, at: TPlace]> {
  const below = path === '' ? '' : `${path}.`;
  if (source.kind === 'list')
    for (const [index, item] of source.items.entries()) {
      yield [`${below}${index}`, item.at];
      yield* placesIn(item, `${below}${index}`);
    }
  if (source.kind === 'map')
    for (const [name, { keyAt, value }] of source.entries) {
      yield [`${below}${name}`, keyAt];
      yield* placesIn(value, `${below}${name}`);
    }
}

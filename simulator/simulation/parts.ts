/** Parts of a list to be left out, the largest first, and their names for people. */

/**
 * The list with parts taken out of it: all, then halves, quarters, and so on to each one alone.
 * After a part could be taken out the caller begins again with the shorter list.
 */
export function* withoutParts<T>(
  list: readonly T[],
): Generator<{ readonly left: readonly T[]; readonly out: readonly T[] }> {
  for (
    let parts = 1;
    parts <= list.length;
    parts = parts === list.length ? parts + 1 : Math.min(parts * 2, list.length)
  ) {
    const size = Math.ceil(list.length / parts);
    for (let start = 0; start < list.length; start += size) {
      const out = list.slice(start, start + size);
      yield { left: [...list.slice(0, start), ...list.slice(start + size)], out };
    }
  }
}

/** `a, b and c`, or how many when they are too many to be told. */
export function namesOf(names: readonly string[], many: string): string {
  if (names.length > 3) return `${names.length} ${many}`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

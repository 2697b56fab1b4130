/**
 * Did-you-mean suggestions: the known name that somebody probably meant by an unknown one.
 *
 * Another way of writing (`stuck_threshold_ms`) or a few wrong letters lead to the name; anything
 * further away leads to nothing.
 */

/** One wrong letter in four is a typing mistake, more is another word. */
const LETTERS_PER_MISTAKE = 4;
/** Longer than any option with its mistakes: not worth comparing. */
const NAME_LENGTH_MAX = 64;

/** The name of a list that is closest to one that is not in it. */
export function findLikelyOf(name: string, names: readonly string[]): string | undefined {
  return closest(
    name,
    names.map((known) => [known, known] as const),
  );
}

/** The same, where a name has several spellings. */
export function closest<TName extends string>(
  name: string,
  spellings: ReadonlyArray<readonly [spelling: string, name: TName]>,
): TName | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined;
  const wanted = bare(name);
  let likely: TName | undefined;
  let least = Math.floor(wanted.length / LETTERS_PER_MISTAKE) + 1;
  for (const [spelling, known] of spellings) {
    const distance = editDistance(wanted, bare(spelling));
    if (distance >= least) continue;
    least = distance;
    likely = known;
  }
  return likely;
}

/** Strips what is a matter of habit: capitals, separators and the unit. */
function bare(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/(ms|millis|seconds|secs?)$/, '');
}

/** Number of letters to put in, take out, change or swap with their neighbour. */
function editDistance(one: string, other: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      let least = Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      const isSwapped = i > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwapped) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}

/**
 * A planted bug: a small edit of a source of the product that a person could have made.
 *
 * Guarantees: an edit applies to one place and no other, or not at all. The product knows nothing of
 * plants: they are put into a copy of its sources, see copy.ts.
 */

/** Where the plans are that once broke something, from the root of the project. */
export const PLANS_FOLDER = 'test/simulator/record';

export interface Plant {
  /** Stable: `P1`. */
  readonly id: string;
  readonly area: PlantArea;
  /** What is wrong, as a sentence. */
  readonly says: string;
  readonly edits: readonly Edit[];
  /** A test file that finds it, where a run of the jobs system has nothing to tell. */
  readonly suite?: string;
  /**
   * A file of `PLANS_FOLDER` that is played instead of seeds: of a bug that was there once, the run that
   * it was found by, where seeds would find it again after thousands only.
   */
  readonly plan?: string;
}

export type PlantArea =
  | 'time'
  | 'fence'
  | 'gate'
  | 'fallback'
  | 'extensions'
  | 'cleanup'
  | 'runtime'
  | 'work'
  | 'agents'
  | 'mapreduce'
  | 'store';

export interface Edit {
  /** From the root of the project. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** A plant of one edit, of an area whose plants are found by test files. */
export type SuitePlant = Pick<Plant, 'id' | 'says' | 'suite'> & Edit;

/** Plants of an area; `suite` finds those that name none. */
export function plantsOf(
  area: PlantArea,
  suite: string,
  plants: readonly SuitePlant[],
): readonly Plant[] {
  return plants.map(({ file, find, replace, ...named }) => ({
    suite,
    ...named,
    area,
    edits: [{ file, find, replace }],
  }));
}

/** The source with the edit made. @throws {Error} when its place is not there, or not the only one. */
export function edited(source: string, { file, find, replace }: Edit): string {
  const at = source.indexOf(find);
  if (at < 0) throw new Error(`${file} has no place that reads "${find}".`);
  if (source.includes(find, at + 1))
    throw new Error(`${file} has more than one place that reads "${find}".`);
  return source.slice(0, at) + replace + source.slice(at + find.length);
}

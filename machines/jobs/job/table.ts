/**
 * Storage of a job's table of its workflows within its record.
 *
 * What never changes is in rows of its own, and the letters are in rows of some workflows each, so that a turn
 * writes as much in a job of ten thousand as in one of ten. It is read as a `WorkflowView`, which counts the
 * letters, so that a change costs the same in both; what the letters mean is said in workflows.ts.
 */

import { knob } from '../../../runtime/base/knob.ts';
import { Table } from '../../../runtime/machine.ts';

export type WorkflowTable = Table<unknown>;

/** Parts of a table that never change. */
interface Fixed {
  readonly ids: readonly string[];
  /** Dependencies by place in `ids`; what depends on nothing is left out. */
  readonly dependsOn: Readonly<Record<string, readonly number[]>>;
  /**
   * Lanes by place in `ids`: equal numbers want equal cores for the same handler; left out where all
   * do.
   */
  readonly lanes?: readonly number[];
}

/** A table as it was stored by earlier releases: the letters of all workflows in one text. */
export interface WholeTable extends Fixed {
  readonly standing: string;
}

type Counts = Readonly<Record<string, number>>;

/** Letters in one row: records rely on it. */
const ROW_LETTERS = knob('workflowsPerRow', 64);

/** Prefix of the rows with letters; the place of the first one follows. */
const STANDING = 'standing/';

const rowKey = (start: number): string => `${STANDING}${String(start).padStart(8, '0')}`;

/** Places of ids in their list, made when they are first looked for. */
const placesOf = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

export class WorkflowView {
  readonly #fixed: Fixed;
  readonly #rows: readonly string[];
  readonly #counts: Counts;
  #standing: string | undefined;

  constructor(fixed: Fixed, rows: readonly string[], counts: Counts = countsOf(rows)) {
    this.#fixed = fixed;
    this.#rows = rows;
    this.#counts = counts;
  }

  get ids(): readonly string[] {
    return this.#fixed.ids;
  }

  get dependsOn(): Fixed['dependsOn'] {
    return this.#fixed.dependsOn;
  }

  get lanes(): readonly number[] | undefined {
    return this.#fixed.lanes;
  }

  /** Letters of all workflows. It is as long as the job is large: what one event looks at is counted. */
  get standing(): string {
    this.#standing ??= this.#rows.join('');
    return this.#standing;
  }

  /** Number of workflows with one of these letters. */
  count(letters: string): number {
    let sum = 0;
    for (const letter of letters) sum += this.#counts[letter] ?? 0;
    return sum;
  }

  /** Number of workflows with a capital. */
  get capitals(): number {
    let sum = 0;
    for (const letter in this.#counts) if (letter < 'a') sum += this.#counts[letter] as number;
    return sum;
  }

  /** Place of a workflow in `ids`; undefined for one that is none of the job's. */
  placeOf(id: string): number | undefined {
    let places = placesOf.get(this.ids);
    if (places === undefined) {
      places = new Map(this.ids.map((one, place) => [one, place]));
      placesOf.set(this.ids, places);
    }
    return places.get(id);
  }

  letterAt(place: number): string | undefined {
    const { value: length } = ROW_LETTERS;
    return this.#rows[Math.floor(place / length)]?.[place % length];
  }

  /** The table, and its view, with other letters at these places. */
  with(table: WorkflowTable, places: Iterable<number>, letterAt: (place: number) => string) {
    const { value: length } = ROW_LETTERS;
    const rows = [...this.#rows];
    const counts: Record<string, number> = { ...this.#counts };
    const changed = new Map<number, string[]>();
    for (const place of places) {
      const number = Math.floor(place / length);
      const letters = changed.get(number) ?? [...(rows[number] as string)];
      changed.set(number, letters);
      const [before, after] = [letters[place % length] as string, letterAt(place)];
      letters[place % length] = after;
      counts[before] = (counts[before] as number) - 1;
      counts[after] = (counts[after] ?? 0) + 1;
    }
    let after = table;
    for (const [number, letters] of changed) {
      rows[number] = letters.join('');
      after = after.with(rowKey(number * length), rows[number]);
    }
    if (after !== table) views.set(after, new WorkflowView(this.#fixed, rows, counts));
    return after;
  }
}

function countsOf(rows: readonly string[]): Counts {
  const counts: Record<string, number> = {};
  for (const row of rows) for (const letter of row) counts[letter] = (counts[letter] ?? 0) + 1;
  return counts;
}

export function tableOf({ standing, ids, dependsOn, lanes }: WholeTable): WorkflowTable {
  let table = Table.of<unknown>({ ids, dependsOn, ...(lanes !== undefined && { lanes }) });
  const { value: length } = ROW_LETTERS;
  for (let start = 0; start < standing.length; start += length)
    table = table.with(rowKey(start), standing.slice(start, start + length));
  return table;
}

/** Views of tables read before; a table never changes. */
const views = new WeakMap<object, WorkflowView>();

/** View of a table, or of one as it stands in a record. */
export function viewOf(table: WorkflowTable | Readonly<Record<string, unknown>>): WorkflowView {
  const known = views.get(table);
  if (known !== undefined) return known;
  const rows = Table.of(table);
  const letters = Array.from(rows.entries(STANDING)).filter(([key]) => key.startsWith(STANDING));
  const fixed = Object.fromEntries(
    ['ids', 'dependsOn', 'lanes'].filter((key) => rows.has(key)).map((key) => [key, rows.get(key)]),
  );
  const view = new WorkflowView(
    fixed as unknown as Fixed,
    letters.map(([, row]) => row as string),
  );
  views.set(table, view);
  return view;
}

/**
 * A suite of measurements: fields, each with a goal and a way to measure it.
 *
 * A field is measured in a process of its own (measure.ts); what it returns is plain data.
 */

export interface Suite {
  readonly name: string;
  readonly about: string;
  readonly fields: readonly Field[];
}

export interface Figure {
  /** The name under which machines read the figure; `engine.rate` is `rate` in the object `engine`. */
  readonly name: string;
  readonly about: string;
  readonly better: 'higher' | 'lower';
  /** Left out where the figure is only to be known. */
  readonly goal?: number;
  readonly stretch?: number;
}

export interface Field extends Figure {
  /** Figures that come out of the same measurement. */
  readonly others?: readonly Figure[];
  /** Makes the machine ready, before anything is measured and outside the process that measures. */
  prepare?(): void;
  measure(options: MeasureOptions): Promise<Measured>;
}

export interface MeasureOptions {
  readonly rounds: number;
  /** Scaled down for development: never a figure to report. */
  readonly isQuick: boolean;
  /** Sizes that somebody asked for in place of a field's own: never a figure to report. */
  readonly sizes: Sizes;
  /** Parts of a field by name that somebody asked for in place of all: never a figure to report. */
  readonly parts: Parts;
  progress(line: string): void;
}

/** Sizes by the option of the command that sets each. */
export type Sizes = Readonly<Partial<Record<SizeName, number>>>;

/** Machines of the corpus, contenders; all where they are left out. */
export type Parts = Readonly<Partial<Record<PartName, readonly string[]>>>;
export type PartName = 'machine' | 'contender';

/** Jobs held at work, jobs of a sample, workflows of one job. */
export type SizeName = 'held' | 'jobs' | 'workflows';

export interface MeasuredFigure {
  readonly value: number;
  /** Lowest and highest of the rounds. */
  readonly range: Range;
  /** How many rounds the value was taken from. */
  readonly rounds: number;
}

export interface Measured extends MeasuredFigure {
  /** Further figures that the field measures, by name. */
  readonly others?: Readonly<Record<string, MeasuredFigure>>;
  readonly details: Readonly<Record<string, unknown>>;
  /** Every sample of every case, in the order of the rounds. */
  readonly raw: Readonly<Record<string, readonly number[]>>;
}

export type Range = readonly [lowest: number, highest: number];

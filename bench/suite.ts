/**
 * What a suite of measurements is: fields, each with a goal and a way to measure it.
 *
 * A field is measured in a process of its own (measure.ts); what it returns is plain data.
 */

export interface Suite {
  readonly name: string;
  readonly about: string;
  readonly fields: readonly Field[];
}

export interface Field {
  /** The name under which machines read the figure. */
  readonly name: string;
  readonly about: string;
  readonly better: 'higher' | 'lower';
  readonly goal: number;
  readonly stretch: number;
  measure(options: MeasureOptions): Promise<Measured>;
}

export interface MeasureOptions {
  readonly rounds: number;
  /** Scaled down for development: never a figure to report. */
  readonly isQuick: boolean;
  progress(line: string): void;
}

export interface Measured {
  readonly value: number;
  /** Lowest and highest of the rounds. */
  readonly range: Range;
  /** How many rounds the value was taken from. */
  readonly rounds: number;
  readonly details: Readonly<Record<string, unknown>>;
  /** Every sample of every case, in the order of the rounds. */
  readonly raw: Readonly<Record<string, readonly number[]>>;
}

export type Range = readonly [lowest: number, highest: number];

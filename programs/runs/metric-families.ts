/**
 * Metric families: counters, gauges and histograms of runs, as Prometheus reads them.
 *
 * Their names and explanations are given in one table; labels come from closed lists, never from what a plan or an
 * item could choose, so there is a bounded number of series.
 */

import { Histogram } from '../../runtime/base/histogram.ts';
import {
  familyHead,
  histogramText,
  type Labels,
  type MetricType,
  seriesOf,
} from '../../runtime/base/prometheus-text.ts';

export type FamilyTable<TName extends string> = Readonly<
  Record<TName, readonly [type: MetricType, help: string]>
>;

interface Series<TValue> {
  readonly labels: Labels;
  value: TValue;
}

export class MetricFamilies<TName extends string> {
  readonly #table: FamilyTable<TName>;
  readonly #bounds: readonly number[];
  readonly #numbers = new Map<TName, Map<string, Series<number>>>();
  readonly #histograms = new Map<TName, Map<string, Series<Histogram>>>();

  /** `bounds` of the buckets of its histograms. */
  constructor(table: FamilyTable<TName>, bounds: readonly number[]) {
    this.#table = table;
    this.#bounds = bounds;
  }

  add(name: TName, labels: Labels = {}, by = 1): void {
    seriesIn(this.#numbers, name, labels, () => 0).value += by;
  }

  /** Puts these series in the place of what the gauge had. */
  set(name: TName, ...series: ReadonlyArray<readonly [value: number, labels?: Labels]>): void {
    this.#numbers.delete(name);
    for (const [value, labels] of series) this.add(name, labels, value);
  }

  observe(name: TName, labels: Labels, value: number): void {
    seriesIn(this.#histograms, name, labels, () => new Histogram(this.#bounds)).value.record(value);
  }

  /** Sum of the series that have these labels among theirs. */
  total(name: TName, labels: Labels = {}): number {
    let total = 0;
    for (const series of this.#numbers.get(name)?.values() ?? [])
      if (Object.entries(labels).every(([label, value]) => series.labels[label] === value))
        total += series.value;
    return total;
  }

  text(): string {
    let text = '';
    for (const name of Object.keys(this.#table) as TName[]) {
      const [type, help] = this.#table[name];
      text += familyHead(name, type, help);
      for (const [series, { value }] of this.#numbers.get(name) ?? [])
        text += `${series} ${value}\n`;
      for (const { labels, value } of this.#histograms.get(name)?.values() ?? [])
        text += histogramText(name, labels, value.snapshot());
    }
    return text;
  }
}

function seriesIn<TName extends string, TValue>(
  families: Map<TName, Map<string, Series<TValue>>>,
  name: TName,
  labels: Labels,
  first: () => TValue,
): Series<TValue> {
  const family = families.get(name) ?? new Map<string, Series<TValue>>();
  families.set(name, family);
  const key = seriesOf(name, labels);
  const series = family.get(key) ?? { labels, value: first() };
  family.set(key, series);
  return series;
}

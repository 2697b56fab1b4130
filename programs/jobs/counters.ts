/**
 * Counters of a program of the jobs system, by the names of its documentation.
 *
 * Labels come from closed lists, never from what a client could choose, so there is a bounded
 * number of them. A program's numbers begin with its process.
 */

import { seriesOf } from '../../runtime/base/prometheus-text.ts';

export type Labels = Readonly<Record<string, string>>;

export class Counters {
  readonly #values = new Map<string, number>();
  readonly #gauges = new Map<string, () => number>();

  /** A number that is not counted but read whenever somebody looks. */
  observe(name: string, read: () => number): void {
    this.#gauges.set(name, read);
  }

  add(name: string, labels: Labels = {}, by = 1): void {
    const series = seriesOf(name, labels);
    this.#values.set(series, (this.#values.get(series) ?? 0) + by);
  }

  value(name: string, labels: Labels = {}): number {
    const series = seriesOf(name, labels);
    return this.#gauges.get(series)?.() ?? this.#values.get(series) ?? 0;
  }

  /** All of one name, whatever the labels. */
  total(name: string): number {
    let total = 0;
    for (const [series, value] of this.#values)
      if (series === name || series.startsWith(`${name}{`)) total += value;
    return total;
  }

  /** `name{label="value"}` → number, in the order of the names. */
  snapshot(): Readonly<Record<string, number>> {
    const gauges = [...this.#gauges].map(([name, read]) => [name, read()] as const);
    const all = [...this.#values, ...gauges];
    return Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** Text of the counters as Prometheus reads it. */
  text(): string {
    let text = '';
    let last = '';
    for (const [series, value] of Object.entries(this.snapshot())) {
      const name = series.split('{', 1)[0] as string;
      if (name !== last)
        text += `# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}\n`;
      last = name;
      text += `${series} ${value}\n`;
    }
    return text;
  }
}

/**
 * Prometheus text: series and families of metrics in the text exposition format 0.0.4, escaped.
 *
 * Pure functions on text. What the metrics are and who may see them is for those that count.
 */

import type { HistogramSnapshot } from './histogram.ts';

export type Labels = Readonly<Record<string, string | number | boolean>>;

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Lines that explain a name; they come once in a text, before its series. */
export function familyHead(name: string, type: MetricType, help: string): string {
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
}

/** `name{label="value"}`: the key of one series, as it stands in the text. */
export function seriesOf(name: string, labels: Labels): string {
  const parts = partsOf(labels);
  return parts === '' ? name : `${name}{${parts}}`;
}

export function histogramText(
  name: string,
  labels: Labels,
  { bounds, counts, sum, count }: HistogramSnapshot,
): string {
  const bucket = (le: string, value: number): string =>
    `${seriesOf(`${name}_bucket`, { ...labels, le })} ${value}\n`;
  let text = '';
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    below += counts[index] as number;
    text += bucket(String(bound), below);
  }
  text += bucket('+Inf', count);
  text += `${seriesOf(`${name}_sum`, labels)} ${sum}\n`;
  return `${text}${seriesOf(`${name}_count`, labels)} ${count}\n`;
}

function partsOf(labels: Labels): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${escapeLabel(String(value))}"`)
    .join(',');
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

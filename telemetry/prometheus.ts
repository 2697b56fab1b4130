/**
 * Prometheus: the metrics of a runtime as it reads them, in the text exposition format 0.0.4.
 *
 * The labels are `node` and `place`, and `code` where refusals are told apart: never a name that a
 * client could choose, so the number of series is bounded by how many runtimes there are. It
 * listens nowhere: an HTTP server of the user's answers with the text.
 */

import type { HistogramSnapshot, MetricsSnapshot } from '../runtime/base/metrics.ts';
import { METRICS, type Metric } from './metric-list.ts';

/** Value of the header `content-type` in an answer with this text. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Source of metrics: a runtime. */
export interface Measured {
  metrics(): MetricsSnapshot;
}

/** Several runtimes of one process share one text: a name may be explained once only. */
export function prometheusText(...runtimes: readonly Measured[]): string {
  const snapshots = runtimes.map((runtime) => runtime.metrics());
  let text = '';
  for (const metric of METRICS) {
    text += `# HELP ${metric.name} ${escapeHelp(metric.help)}\n`;
    text += `# TYPE ${metric.name} ${metric.type}\n`;
    for (const snapshot of snapshots) text += samplesOf(metric, snapshot);
  }
  return text;
}

function samplesOf(metric: Metric, snapshot: MetricsSnapshot): string {
  const { name } = metric;
  const labels = `node="${escapeLabel(snapshot.node)}",place="${escapeLabel(snapshot.place)}"`;
  if (metric.type === 'histogram') return bucketsOf(name, labels, snapshot[metric.field]);
  if (metric.parts === undefined) return `${name}{${labels}} ${metric.read(snapshot)}\n`;
  const { label, read } = metric.parts;
  const parts = Object.entries(read(snapshot));
  return parts
    .map(([part, value]) => `${name}{${labels},${label}="${escapeLabel(part)}"} ${value}\n`)
    .join('');
}

function bucketsOf(name: string, labels: string, histogram: HistogramSnapshot): string {
  const { bounds, counts, sum, count } = histogram;
  let text = '';
  let below = 0;
  for (let index = 0; index < bounds.length; index += 1) {
    below += counts[index] as number;
    text += `${name}_bucket{${labels},le="${bounds[index]}"} ${below}\n`;
  }
  text += `${name}_bucket{${labels},le="+Inf"} ${count}\n`;
  return `${text}${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${count}\n`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

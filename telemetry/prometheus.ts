/**
 * Prometheus: the metrics of a runtime as it reads them, in the text exposition format 0.0.4.
 *
 * The labels are `node` and `place`, and `code` where refusals are told apart: never a name that a
 * client could choose, so the number of series is bounded by how many runtimes there are. It
 * listens nowhere: an HTTP server of the user's answers with the text.
 */

import type { MetricsSnapshot } from '../runtime/base/metrics.ts';
import { familyHead, histogramText, seriesOf } from '../runtime/base/prometheus-text.ts';
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
    text += familyHead(metric.name, metric.type, metric.help);
    for (const snapshot of snapshots) text += samplesOf(metric, snapshot);
  }
  return text;
}

function samplesOf(metric: Metric, snapshot: MetricsSnapshot): string {
  const { name } = metric;
  const labels = { node: snapshot.node, place: snapshot.place };
  if (metric.type === 'histogram') return histogramText(name, labels, snapshot[metric.field]);
  if (metric.parts === undefined) return `${seriesOf(name, labels)} ${metric.read(snapshot)}\n`;
  const { label, read } = metric.parts;
  const parts = Object.entries(read(snapshot));
  return parts
    .map(([part, value]) => `${seriesOf(name, { ...labels, [label]: part })} ${value}\n`)
    .join('');
}

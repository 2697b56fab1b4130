/**
 * Instruments of OpenTelemetry for the metrics, under the names of metric-list.ts.
 *
 * Counters and gauges are observed: a snapshot is taken once for each collection and at
 * no other time. Histograms get each value when it is recorded, which is once for each
 * commit or timer. Attributes are the labels of the Prometheus text.
 */

import type { BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { Metrics, MetricsSnapshot } from '../runtime/base/metrics.ts';
import { type HistogramMetric, METRICS, type NumberMetric } from './metric-list.ts';

export interface InstrumentSources {
  readonly node: string;
  readonly place: string;
  /** The live numbers, for histograms. */
  readonly metrics: Metrics;
  snapshot(): MetricsSnapshot;
  /** Calls it and keeps whatever it throws from the runtime. */
  guarded(task: () => void): void;
}

/** Registers everything with the meter; what takes it off again is added to `ends` as it is needed. */
export function openInstruments(
  meter: Meter,
  sources: InstrumentSources,
  ends: Array<() => void>,
): void {
  const observed = new Map<Observable, NumberMetric>();
  for (const metric of METRICS) {
    if (metric.type === 'histogram') ends.push(openHistogram(meter, metric, sources));
    else observed.set(observableOf(meter, metric), metric);
  }
  const { node, place } = sources;
  const labels = { node, place };
  const observe = (result: BatchObservableResult): void =>
    sources.guarded(() => {
      const snapshot = sources.snapshot();
      for (const [observable, { read, parts }] of observed) {
        if (parts === undefined) result.observe(observable, read(snapshot), labels);
        else
          for (const [part, value] of Object.entries(parts.read(snapshot)))
            result.observe(observable, value, { ...labels, [parts.label]: part });
      }
    });
  const observables = [...observed.keys()];
  meter.addBatchObservableCallback(observe, observables);
  ends.push(() => meter.removeBatchObservableCallback(observe, observables));
}

function observableOf(meter: Meter, { name, type, unit, help }: NumberMetric): Observable {
  const options = { unit, description: help };
  return type === 'counter'
    ? meter.createObservableCounter(name, options)
    : meter.createObservableGauge(name, options);
}

function openHistogram(
  meter: Meter,
  { name, unit, help, field }: HistogramMetric,
  { node, place, metrics, guarded }: InstrumentSources,
): () => void {
  const { [field]: source } = metrics;
  const histogram = meter.createHistogram(name, {
    unit,
    description: help,
    advice: { explicitBucketBoundaries: [...source.snapshot().bounds] },
  });
  const labels = { node, place };
  return source.read((value) => guarded(() => histogram.record(value, labels)));
}

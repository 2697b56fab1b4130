/**
 * Entry `escapement/telemetry`: a runtime's numbers, turns and traces for the tools that watch it.
 *
 * This is a public entry. Nothing of it is needed for `runtime.metrics()`, and importing
 * it loads no other package.
 */

export { type HistogramMetric, METRICS, type Metric, type NumberMetric } from './metric-list.ts';
export { type OpenTelemetryOptions, openTelemetry } from './open-telemetry.ts';
export { type Measured, PROMETHEUS_CONTENT_TYPE, prometheusText } from './prometheus.ts';

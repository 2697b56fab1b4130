/**
 * The smallest SDK that OpenTelemetry's api accepts: spans and measurements in arrays.
 *
 * It implements what the api promises to libraries: trace ids are inherited from the
 * parent in the context, observables are asked when `collect` is called.
 */

import {
  type Attributes,
  type BatchObservableCallback,
  type Context,
  type Meter,
  type MeterProvider,
  type MetricOptions,
  metrics,
  type Observable,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  type TimeInput,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';

export interface SeenSpan {
  readonly name: string;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startTime: TimeInput | undefined;
  readonly attributes: Attributes;
  status: SpanStatus | undefined;
  endTime: TimeInput | undefined;
}

export interface Recorded {
  readonly name: string;
  readonly value: number;
  readonly attributes: Attributes | undefined;
}

/** Collects until `disable`. With a `failure` every call that is `failing` throws it. */
export class InMemorySdk {
  readonly spans: SeenSpan[] = [];
  readonly recorded: Recorded[] = [];
  readonly instruments = new Map<string, MetricOptions & { readonly kind: string }>();
  readonly callbacks = new Map<BatchObservableCallback, readonly Observable[]>();
  failure: Error | undefined;
  failing: (name: string) => boolean = () => true;
  calls = 0;
  #lastId = 0;

  register(what: { readonly traces?: boolean; readonly metrics?: boolean } = {}): this {
    if (what.traces !== false) trace.setGlobalTracerProvider(this.#tracers());
    if (what.metrics !== false) metrics.setGlobalMeterProvider(this.#meters());
    return this;
  }

  disable(): void {
    trace.disable();
    metrics.disable();
  }

  turns(): SeenSpan[] {
    return this.spans.filter(({ name }) => name.startsWith('turn '));
  }

  /** What a reader of metrics would see now, by name. */
  async collect(): Promise<ReadonlyMap<string, Recorded>> {
    const seen = new Map<string, Recorded>();
    for (const callback of this.callbacks.keys()) {
      await callback({
        observe: (observable, value, attributes) => {
          const { name } = observable as unknown as { name: string };
          seen.set(name, { name, value, attributes });
        },
      });
    }
    return seen;
  }

  #called(name = ''): void {
    this.calls += 1;
    if (this.failure !== undefined && this.failing(name)) throw this.failure;
  }

  #nextId(length: number): string {
    this.#lastId += 1;
    return this.#lastId.toString(16).padStart(length, '0');
  }

  #tracers(): TracerProvider {
    const tracer: Tracer = {
      startSpan: (name, options, context) => this.#start(name, options, context),
      startActiveSpan: () => {
        throw new Error('not expected of a library that has no code to run inside of a span');
      },
    };
    return { getTracer: () => tracer };
  }

  #start(name: string, options: SpanOptions = {}, context?: Context): Span {
    this.#called(name);
    const parent = context === undefined ? undefined : trace.getSpanContext(context);
    const spanContext: SpanContext = {
      traceId: parent?.traceId ?? this.#nextId(32),
      spanId: this.#nextId(16),
      traceFlags: TraceFlags.SAMPLED,
    };
    const seen: SeenSpan = {
      name,
      context: spanContext,
      parent,
      startTime: options.startTime,
      attributes: { ...(options.attributes as Attributes) },
      status: undefined,
      endTime: undefined,
    };
    this.spans.push(seen);
    const span: Partial<Span> = {
      spanContext: () => spanContext,
      setAttribute: (key, value) => {
        Object.assign(seen.attributes, { [key]: value });
        return span as Span;
      },
      setStatus: (status) => {
        seen.status = status;
        return span as Span;
      },
      end: (endTime) => {
        seen.endTime = endTime;
      },
      isRecording: () => true,
    };
    return span as Span;
  }

  #meters(): MeterProvider {
    const make =
      (kind: string) =>
      (name: string, options: MetricOptions = {}) => {
        this.#called();
        this.instruments.set(name, { ...options, kind });
        return {
          name,
          record: (value: number, attributes?: Attributes) => {
            this.#called();
            this.recorded.push({ name, value, attributes });
          },
        };
      };
    const meter = {
      createHistogram: make('histogram'),
      createObservableCounter: make('counter'),
      createObservableGauge: make('gauge'),
      addBatchObservableCallback: (callback: BatchObservableCallback, observed: Observable[]) => {
        this.#called();
        this.callbacks.set(callback, observed);
      },
      removeBatchObservableCallback: (callback: BatchObservableCallback) => {
        this.#called();
        this.callbacks.delete(callback);
      },
    };
    return { getMeter: () => meter as unknown as Meter };
  }
}

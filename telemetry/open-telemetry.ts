/**
 * OpenTelemetry: traces and metrics, where it is in use.
 *
 * Guarantees: `@opentelemetry/api` is loaded only when somebody asks for it, or when an
 * SDK has registered itself; nothing that a tracer, a meter or an exporter throws reaches
 * the runtime; everything is taken off when the runtime ends. It installs no SDK and
 * exports nothing itself.
 */

import { messageOf, RuntimeError } from '../runtime/base/errors.ts';
import type { Logger } from '../runtime/base/limits.ts';
import { type KindMap, Runtime } from '../runtime/runtime.ts';
import { openInstruments } from './instruments.ts';
import { type Api, Spans } from './spans.ts';

export interface OpenTelemetryOptions {
  /** Spans for turns and commits, which cost something for each turn. Default true. */
  readonly traces?: boolean;
  /** Counters, histograms and gauges. Default true. */
  readonly metrics?: boolean;
}

/** Symbol under which the api keeps what was registered, so that all copies of it in a process share it. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Functions that detach each runtime, kept so that nothing is reported twice. */
const attached = new WeakMap<object, () => void>();

/**
 * Reports a runtime to the tracer and meter providers that are registered now, until it
 * ends or the returned function is called. A second call replaces the first.
 *
 * @throws {RuntimeError} PACKAGE_MISSING when `@opentelemetry/api` is not installed.
 */
export async function openTelemetry<TKinds extends KindMap>(
  runtime: Runtime<TKinds>,
  options: OpenTelemetryOptions = {},
): Promise<() => void> {
  return attach(await loadApi(), runtime, options);
}

/**
 * Finds the function that attaches a runtime to what an SDK has registered a provider for.
 * Undefined without one, or without the api.
 */
export async function findOpenTelemetry(
  logger: Logger,
): Promise<((runtime: Runtime) => void) | undefined> {
  const { [REGISTERED]: registered } = globalThis as {
    readonly [REGISTERED]?: { readonly trace?: unknown; readonly metrics?: unknown };
  };
  const traces = registered?.trace !== undefined;
  const metrics = registered?.metrics !== undefined;
  if (!(traces || metrics)) return undefined;
  try {
    const api = await loadApi();
    return (runtime) => void attach(api, runtime, { traces, metrics });
  } catch (thrown) {
    // A user who did not ask for it has nothing to mend.
    logger.debug({ error: messageOf(thrown) }, 'OpenTelemetry is registered and was not attached');
    return undefined;
  }
}

async function loadApi(): Promise<Api> {
  try {
    return await import('@opentelemetry/api');
  } catch (cause) {
    const what =
      'OpenTelemetry needs the package @opentelemetry/api. Install it beside escapement.';
    throw new RuntimeError('PACKAGE_MISSING', what, { cause });
  }
}

function attach<TKinds extends KindMap>(
  api: Api,
  runtime: Runtime<TKinds>,
  options: OpenTelemetryOptions,
): () => void {
  const { metrics, ended, logger } = Runtime.watchOf(runtime as never);
  const { node, place } = runtime;
  const ends: Array<() => void> = [];
  let isReported = false;
  const guarded = (task: () => void): void => {
    try {
      task();
    } catch (thrown) {
      // Once is enough: it may fail for every turn.
      if (isReported) return;
      isReported = true;
      logger.warn({ error: messageOf(thrown) }, 'telemetry failed; the runtime goes on');
    }
  };
  const detach = (): void => {
    ended.removeEventListener('abort', detach);
    if (attached.get(runtime) === detach) attached.delete(runtime);
    for (const end of ends.splice(0)) guarded(end);
  };
  attached.get(runtime)?.();
  if (ended.aborted) return detach;
  attached.set(runtime, detach);
  ended.addEventListener('abort', detach);
  guarded(() => {
    if (options.metrics === false) return;
    const snapshot = () => runtime.metrics();
    const meter = api.metrics.getMeter('escapement');
    openInstruments(meter, { node, place, metrics, snapshot, guarded }, ends);
  });
  guarded(() => {
    if (options.traces === false) return;
    const spans = new Spans(api, metrics);
    ends.push(runtime.inspect((record) => guarded(() => spans.read(record))));
  });
  return detach;
}

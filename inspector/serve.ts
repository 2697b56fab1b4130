/**
 * Serving of an inspector beside a runtime: what the option `inspector` of `createRuntime` switches on.
 */

import { Runtime } from '../runtime/runtime.ts';
import { type InspectorListener, listenFor } from './listen.ts';
import { inspectorHandler } from './mount.ts';
import type { InspectorOptions } from './options.ts';

/** Ends with the runtime. @throws {RuntimeError} OPTION_INVALID */
export async function serveInspector(
  runtime: Runtime<never>,
  options: InspectorOptions,
): Promise<InspectorListener> {
  const { logger, ended } = Runtime.watchOf(runtime);
  const { port: _port, host: _host, tls: _tls, ...handlerOptions } = options;
  const handler = inspectorHandler(runtime, handlerOptions);
  let listener: InspectorListener;
  try {
    listener = await listenFor(handler, options, logger);
  } catch (thrown) {
    handler.close();
    throw thrown;
  }
  ended.addEventListener('abort', () => void listener.close(), { once: true });
  logger.info(
    { event: 'inspector.listening', url: listener.url },
    `the inspector is at ${listener.url}`,
  );
  return listener;
}

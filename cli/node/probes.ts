/**
 * Probes of a node without an HTTP API: a worker, and any node that is still starting.
 *
 * `/livez`, or `/healthz`, says that the process answers, `/readyz` that it takes work, to any caller.
 * `/metrics` is for callers that the API would tell it: past the same guard. They speak in the words of
 * the API, and change nothing.
 */

import type { IncomingMessage, RequestListener } from 'node:http';
import { type Answer, sendAnswer, sendRefusal } from '../../http/answer.ts';
import type { HttpTokens } from '../../http/callers.ts';
import { Guard } from '../../http/guard.ts';
import { HttpRefusal, refusalOf, tryLater } from '../../http/refusal.ts';
import { type Logger, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { PROMETHEUS_CONTENT_TYPE } from '../../telemetry/prometheus.ts';

export interface Probes {
  readonly state: () => 'starting' | 'ready' | 'draining';
  readonly metrics: () => string;
  /** More that /readyz says. */
  readonly details?: () => object;
  /** Tokens of those who may see the metrics. Default: everybody on this machine, and nobody else. */
  readonly tokens?: HttpTokens;
  /**
   * Names by which the metrics may be asked for, besides those of loopback and where a request arrived.
   * Default: none, and any where a token has to be shown: what is fetched for a page shows none.
   */
  readonly hosts?: readonly string[];
  readonly logger?: Logger;
}

const PATHS: ReadonlySet<string | undefined> = new Set([
  '/healthz',
  '/livez',
  '/readyz',
  '/metrics',
]);

/** @throws {RuntimeError} OPTION_INVALID */
export function probesHandler(probes: Probes): RequestListener {
  const { tokens, hosts, logger = SILENT_LOGGER } = probes;
  const clock = systemClock();
  const guard = new Guard({ tokens, hosts, ownHosts: true, clock, logger });
  return (request, response) => {
    try {
      sendAnswer(response, answerTo(request, probes, guard));
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      if (refusal === undefined) throw thrown;
      sendRefusal(request, response, refusal, clock);
    }
  };
}

/** @throws {HttpRefusal} */
function answerTo(request: IncomingMessage, probes: Probes, guard: Guard): Answer {
  const { url = '', method } = request;
  const [path, query] = url.split('?', 2);
  const state = probes.state();
  if (!PATHS.has(path)) {
    if (state === 'starting') throw tryLater('notReady', 'This node is starting.');
    const what = 'There is nothing at this path: a worker has probes. Ask a gate or a manager.';
    throw new HttpRefusal('notFound', what);
  }
  if (method !== 'GET' && method !== 'HEAD')
    throw new HttpRefusal('methodNotAllowed', 'This is not done here.', {
      headers: { allow: 'GET, HEAD' },
    });
  if (path === '/livez' || path === '/healthz') return { status: 200, body: { status: 'alive' } };
  if (path === '/metrics') {
    const { hosts, tokens } = probes;
    const listed = typeof tokens === 'function' ? tokens() : tokens;
    if (hosts !== undefined || listed === undefined) guard.checkOrigin(request);
    guard.admit(request, new URLSearchParams(query), 'metrics');
    const headers = { 'content-type': PROMETHEUS_CONTENT_TYPE };
    return { status: 200, body: probes.metrics(), headers };
  }
  const isReady = state === 'ready';
  const status = isReady ? 'ready' : 'notReady';
  return { status: isReady ? 200 : 503, body: { status, ...probes.details?.() } };
}

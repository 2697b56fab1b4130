/**
 * The probes of a node without an HTTP API: a worker, and any node that is still starting.
 *
 * `/livez` says that the process answers, `/readyz` that it takes work, `/metrics` what it counts.
 * They speak in the words of the API. By whatever name they are called they answer: they change nothing.
 */

import type { IncomingMessage, RequestListener } from 'node:http';
import { type Answer, sendAnswer } from '../../http/answer.ts';
import { HttpRefusal, tryLater } from '../../http/refusal.ts';
import { PROMETHEUS_CONTENT_TYPE } from '../../telemetry/prometheus.ts';

export interface Probes {
  readonly state: () => 'starting' | 'ready' | 'draining';
  readonly metrics: () => string;
}

const PATHS: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz', '/metrics']);

export function probesHandler(probes: Probes): RequestListener {
  return (request, response) => {
    const answer = answerTo(request, probes);
    if (!(answer instanceof HttpRefusal)) sendAnswer(response, answer);
    else {
      const { status, headers } = answer;
      sendAnswer(response, { status, body: answer.toJSON(), headers });
    }
  };
}

function answerTo({ url, method }: IncomingMessage, probes: Probes): Answer | HttpRefusal {
  const path = url?.split('?', 1)[0];
  const state = probes.state();
  if (!PATHS.has(path)) {
    if (state === 'starting') return tryLater('notReady', 'This node is starting.');
    const what = 'There is nothing at this path: a worker has probes. Ask a gate or a manager.';
    return new HttpRefusal('notFound', what);
  }
  if (method !== 'GET' && method !== 'HEAD')
    return new HttpRefusal('methodNotAllowed', 'This is not done here.', {
      headers: { allow: 'GET, HEAD' },
    });
  if (path === '/livez') return { status: 200, body: { status: 'alive' } };
  if (path === '/metrics') {
    const headers = { 'content-type': PROMETHEUS_CONTENT_TYPE };
    return { status: 200, body: probes.metrics(), headers };
  }
  return state === 'ready'
    ? { status: 200, body: { status: 'ready' } }
    : { status: 503, body: { status: 'notReady' } };
}

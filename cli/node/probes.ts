/**
 * The probes of a node without an HTTP API: a worker, and any node that is still starting.
 *
 * `/livez` says that the process answers, `/readyz` that it takes work, `/metrics` what it counts.
 */

import type { RequestListener } from 'node:http';

export interface Probes {
  /** Why it takes no work now; nothing when it does. */
  readonly unready: () => string | undefined;
  readonly metrics?: () => string;
}

export function probesHandler({ unready, metrics }: Probes): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    const isKnown =
      path === '/livez' || path === '/readyz' || (path === '/metrics' && metrics !== undefined);
    response.setHeader('Cache-Control', 'no-store');
    if (isKnown && request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      answer(405, { error: { code: 'METHOD_NOT_ALLOWED', message: 'Probes are read.' } });
    } else if (path === '/livez') answer(200, { status: 'alive' });
    else if (path === '/readyz') {
      const reason = unready();
      answer(reason === undefined ? 200 : 503, { status: reason ?? 'ready' });
    } else if (path === '/metrics' && metrics !== undefined) {
      response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
      response.end(metrics());
    } else if (unready() === 'starting') {
      response.setHeader('Retry-After', '1');
      answer(503, { error: { code: 'STARTING', message: 'The node is starting.' } });
    } else answer(404, { error: { code: 'NOT_FOUND', message: 'There is nothing here.' } });

    function answer(status: number, body: object): void {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    }
  };
}

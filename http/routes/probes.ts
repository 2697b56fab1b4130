/** Routes for what watches the process: is it alive, is it ready, what are its numbers. */

import { PROMETHEUS_CONTENT_TYPE } from '../../telemetry/index.ts';
import type { Answer } from '../answer.ts';
import { routes, type Service } from '../route.ts';

export const probeRoutes = routes([
  { name: 'livez', method: 'GET', path: '/livez', run: () => alive() },
  { name: 'readyz', method: 'GET', path: '/readyz', run: ready },
  { name: 'metrics', method: 'GET', path: '/metrics', run: metrics },
]);

function alive(): Answer {
  return { status: 200, body: { status: 'alive' } };
}

/** A standby is ready: it takes over, and tells clients so until then. */
function ready({ program, isReady }: Service): Answer {
  const status = isReady() ? 'ready' : 'notReady';
  return {
    status: status === 'ready' ? 200 : 503,
    body: { status, hosting: program.runtime.isHosting },
  };
}

function metrics(service: Service): Answer {
  const headers = { 'content-type': PROMETHEUS_CONTENT_TYPE };
  return { status: 200, body: service.metrics(), headers };
}

/** Routes for what watches the process: is it alive, is it ready, what are its numbers. */

import type { RuntimeError } from '../../runtime/base/errors.ts';
import { PROMETHEUS_CONTENT_TYPE } from '../../telemetry/index.ts';
import type { Answer } from '../answer.ts';
import { routes, type Service } from '../route.ts';

export const probeRoutes = routes([
  { name: 'healthz', method: 'GET', path: '/healthz', run: () => alive() },
  { name: 'livez', method: 'GET', path: '/livez', run: () => alive() },
  { name: 'readyz', method: 'GET', path: '/readyz', run: ready },
  { name: 'metrics', method: 'GET', path: '/metrics', run: metrics },
]);

function alive(): Answer {
  return { status: 200, body: { status: 'alive' } };
}

/** A standby is ready: it takes over, and tells clients so until then. So is one with too much to do. */
function ready({ program, isReady, details }: Service): Answer {
  const { isHosting: hosting, commitRefusal, latenessMs } = program.runtime;
  const reason = isReady() ? wordOf(commitRefusal) : null;
  const status = reason === undefined ? 'ready' : 'notReady';
  const backlog = 'backlog' in program ? { backlog: program.backlog } : {};
  const load = hosting ? { latenessMs, ...backlog } : {};
  const why = typeof reason === 'string' ? { reason } : {};
  return {
    status: status === 'ready' ? 200 : 503,
    body: { status, hosting, ...why, ...load, ...details() },
  };
}

/** Everybody may ask, so the rest of it is in the log. */
function wordOf(refusal: Error | undefined): string | undefined {
  if (refusal === undefined) return undefined;
  return (refusal as Partial<RuntimeError>).code === 'FENCE_STALE'
    ? 'fenceRefused'
    : 'commitsRefused';
}

function metrics(service: Service): Answer {
  const headers = { 'content-type': PROMETHEUS_CONTENT_TYPE };
  return { status: 200, body: service.metrics(), headers };
}

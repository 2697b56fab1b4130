/**
 * Routes of each program, and what they work on: a node of the jobs system and one of one's own kinds.
 * The jobs system has routes of its own, both have those about actors and the process.
 */

import { localClient } from '../programs/jobs/index.ts';
import { systemRandom } from '../runtime/system/random.ts';
import { prometheusText } from '../telemetry/index.ts';
import { type ApiProgram, isOfJobs, type JobsService, RouteTable, type Service } from './route.ts';
import { actorRoutes } from './routes/actors.ts';
import { jobRoutes } from './routes/jobs.ts';
import { operationRoutes } from './routes/operations.ts';
import { probeRoutes } from './routes/probes.ts';
import { workerRoutes } from './routes/workers.ts';

const OWN_ROUTES = [...actorRoutes, ...operationRoutes, ...probeRoutes];

/** A service with the client of its jobs service, where there is one, and the routes that it has. */
export function withJobs(service: Service): {
  readonly service: Service;
  readonly table: RouteTable;
} {
  const { program, clock, limits } = service;
  if (!isOfJobs(program)) return { service, table: new RouteTable(OWN_ROUTES) };
  const asking = { clock, random: systemRandom(), timeoutMs: limits.answerMs };
  const ofJobs: JobsService = { ...service, program, client: localClient(program, asking) };
  return { service: ofJobs, table: new RouteTable([...jobRoutes, ...workerRoutes, ...OWN_ROUTES]) };
}

/** Its numbers, of the runtime and of the jobs. */
export function metricsOf(program: ApiProgram): string {
  const own = isOfJobs(program) ? program.counters.text() : '';
  return inWholeLines(prometheusText(program.runtime as never)) + inWholeLines(own);
}

export function inWholeLines(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

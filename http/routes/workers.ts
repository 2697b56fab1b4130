/** Routes about the jobs system that ask no jobs service about a job: its workers, and what happened to a job. */

import { z } from 'zod';
import { ID_PATTERN } from '../../machines/jobs/addresses.ts';
import type { Manager, WorkerPage, WorkerView } from '../../programs/jobs/index.ts';
import type { Answer } from '../answer.ts';
import { pageLimit } from '../parameters.ts';
import { HttpRefusal, invalid } from '../refusal.ts';
import { type Call, type JobsService, routes } from '../route.ts';
import { read } from '../schema.ts';

const hosted = { isHosted: true } as const;

export const workerRoutes = routes([
  { name: 'workers.list', method: 'GET', path: '/v1/workers', ...hosted, run: workers },
  { name: 'jobs.history', method: 'GET', path: '/v1/jobs/:jobId/history', ...hosted, run: history },
]);

/** Workers of one answer; a gate has those of all its datacenters. */
const WORKERS_MAX = 10_000;

async function workers({ client }: JobsService, { query }: Call): Promise<Answer> {
  read(nothing, query);
  const found: WorkerView[] = [];
  const unanswered = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: WorkerPage = await client.workers({
      limit: 500,
      ...(cursor !== null && { cursor }),
    });
    found.push(...page.workers);
    for (const datacenter of page.unanswered) unanswered.add(datacenter);
    cursor = page.cursor;
  } while (cursor !== null && found.length < WORKERS_MAX);
  return { status: 200, body: { workers: found, unanswered: [...unanswered] } };
}

const historyQuery = z.strictObject({ limit: pageLimit(1_000) });

function history({ program }: JobsService, { parameters, query }: Call): Answer {
  const jobId = parameters.jobId ?? '';
  if (!ID_PATTERN.test(jobId))
    throw invalid('Must be 1 to 128 letters, digits or "._:-".', 'jobId');
  const { limit } = read(historyQuery, query);
  // Both have jobs, a gate by another name.
  const runtime = program.runtime as Manager['runtime'];
  const kind = 'gate' in program ? 'gate-job' : 'job';
  const address = `${kind}/${jobId}@${runtime.place}`;
  const turns = runtime.history(address, { limit });
  if (turns.length === 0) throw new HttpRefusal('notFound', 'There is no such job.');
  return { status: 200, body: { address, history: turns } };
}

const nothing = z.strictObject({});

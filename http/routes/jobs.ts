/** Routes about jobs: submit, list, look at, cancel, give more time, watch. */

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { ID_PATTERN } from '../../machines/jobs/addresses.ts';
import { count, id, requestId } from '../../machines/jobs/messages/fields.ts';
import { JOB_STATUSES } from '../../machines/jobs/words.ts';
import type { NewJob } from '../../programs/jobs/index.ts';
import { isOwn, refusalOf } from '../../programs/jobs/jobs-service/permissions.ts';
import type { Answer } from '../answer.ts';
import { duration, pageLimit, parameter } from '../parameters.ts';
import { HttpRefusal, invalid, notLeader, tryLater } from '../refusal.ts';
import { type Call, type JobsService, routes } from '../route.ts';
import { read } from '../schema.ts';

export const jobRoutes = routes([
  {
    name: 'jobs.submit',
    method: 'POST',
    path: '/v1/jobs',
    isHosted: true,
    body: 'submission',
    run: submit,
  },
  { name: 'jobs.list', method: 'GET', path: '/v1/jobs', isHosted: true, run: list },
  {
    name: 'jobs.show',
    method: 'GET',
    path: '/v1/jobs/:jobId',
    isHosted: true,
    run: show,
  },
  {
    name: 'jobs.cancel',
    method: 'POST',
    path: '/v1/jobs/:jobId/cancel',
    isHosted: true,
    body: 'small',
    run: cancel,
  },
  {
    name: 'jobs.extend',
    method: 'POST',
    path: '/v1/jobs/:jobId/extend',
    isHosted: true,
    body: 'small',
    run: extend,
  },
  {
    name: 'jobs.watch',
    method: 'GET',
    path: '/v1/jobs/:jobId/events',
    isHosted: true,
    isStream: true,
    run: watch,
  },
]);

async function submit({ client }: JobsService, call: Call): Promise<Answer> {
  const job = call.body as NewJob;
  const jobId = job.jobId ?? call.idempotencyKey;
  if (jobId === undefined && call.caller.jobs !== undefined)
    throw new HttpRefusal('forbidden', 'Name the job: this token is for some jobs only.');
  const refusal = refusalOf(call.caller, 'jobs.submit', jobId);
  if (refusal !== undefined) throw new HttpRefusal('forbidden', refusal);
  const named = jobId === undefined ? job : { ...job, jobId };
  // Its reader has checked it, and filled in the defaults.
  const answer = await client.submit(named, { client: call.caller.client, isChecked: true });
  if (answer.accepted) {
    const headers = { location: `${pathOf(call.request)}/${answer.jobId}` };
    return { status: answer.created ? 201 : 200, body: answer, headers };
  }
  const { detail, field, isTooLarge } = answer;
  switch (answer.reason) {
    case 'invalid':
      if (isTooLarge === true)
        throw new HttpRefusal('bodyTooLarge', `${field}: ${detail}.`, { field });
      throw invalid(`${field ?? 'It'} ${detail ?? 'is not what was expected'}.`, field);
    case 'conflict':
      throw new HttpRefusal('conflict', 'There is another job of this id.', { field: 'jobId' });
    case 'jobFinal':
      throw new HttpRefusal('alreadyFinal', 'The job has ended.');
    case 'notLeader':
      throw notLeader();
    default:
      throw tryLater(
        'overloaded',
        detail ?? 'There is too much to do; send it again.',
        answer.retryAfterMs,
      );
  }
}

/** As the client wrote it: Express keeps that where it takes its own part away. */
function pathOf(request: IncomingMessage & { readonly originalUrl?: string }): string {
  return (request.originalUrl ?? request.url ?? '').replace(/\?.*$/, '');
}

const listQuery = z.strictObject({
  status: z.enum(JOB_STATUSES).optional(),
  stuckFor: duration.optional(),
  deadlineBefore: duration.optional(),
  limit: pageLimit(500),
  cursor: z.string().min(1).max(1_024).optional(),
});

async function list({ client }: JobsService, { query, caller }: Call): Promise<Answer> {
  const { status, stuckFor, deadlineBefore, limit, cursor } = read(listQuery, query);
  const page = await client.list({
    limit,
    ...(status !== undefined && { status }),
    ...(stuckFor !== undefined && { stuckForMs: stuckFor }),
    ...(deadlineBefore !== undefined && { deadlineBeforeMs: deadlineBefore }),
    ...(cursor !== undefined && { cursor }),
  });
  const jobs = page.jobs.filter(({ jobId }) => isOwn(caller.jobs, jobId));
  return { status: 200, body: { ...page, jobs } };
}

async function show({ client }: JobsService, call: Call): Promise<Answer> {
  const jobId = jobIdOf(call);
  read(nothing, call.query);
  const job = await client.get(jobId);
  if (job === undefined) throw unknownJob();
  return { status: 200, body: job };
}

async function cancel({ client }: JobsService, call: Call): Promise<Answer> {
  const jobId = jobIdOf(call);
  read(nothing, call.query);
  read(nothing, call.body);
  const answer = await client.cancel(jobId);
  if (answer.accepted) return { status: 200, body: answer };
  throw refusedBecause(answer.reason);
}

const extendBody = z.strictObject({
  byMs: z.int().min(1).max(5_184_000_000),
  requestId: requestId.optional(),
  datacenter: id.optional(),
});

async function extend({ client }: JobsService, call: Call): Promise<Answer> {
  const jobId = jobIdOf(call);
  read(nothing, call.query);
  const { byMs, datacenter, ...more } = read(extendBody, call.body);
  const asked = more.requestId ?? call.idempotencyKey;
  const answer = await client.extend(jobId, {
    byMs,
    by: call.caller.name,
    ...(asked !== undefined && { requestId: asked }),
    ...(datacenter !== undefined && { datacenter }),
  });
  if (answer.accepted) return { status: 200, body: answer };
  throw refusedBecause(answer.reason);
}

async function watch({ client, watchers }: JobsService, call: Call): Promise<Answer | undefined> {
  const jobId = jobIdOf(call);
  read(nothing, call.query);
  const { request, response } = call;
  const last = parameter(count, request.headers['last-event-id'], 'Last-Event-ID');
  const watcher = watchers.open(call.caller.client);
  try {
    const { signal } = watcher;
    const news = client.watch(jobId, { signal });
    const first = await news.next();
    if (first.done === true) throw unknownJob();
    const job = first.value;
    if (job.seq !== last) {
      await watchers.stream(request, response, job, news, watcher);
      return undefined;
    }
    // 204 tells an EventSource not to come again.
    if (isFinal(job.status)) return { status: 204 };
    await watchers.stream(request, response, undefined, news, watcher);
    return undefined;
  } finally {
    watcher.abort();
  }
}

const nothing = z.strictObject({});

const isFinal = (status: string): boolean => status !== 'submitted' && status !== 'running';

function jobIdOf(call: Call): string {
  const jobId = call.parameters.jobId ?? '';
  if (!ID_PATTERN.test(jobId))
    throw invalid('Must be 1 to 128 letters, digits or "._:-".', 'jobId');
  return jobId;
}

const unknownJob = (): HttpRefusal => new HttpRefusal('notFound', 'There is no such job.');

function refusedBecause(reason: string | null): HttpRefusal {
  switch (reason) {
    case 'alreadyFinal':
      return new HttpRefusal('alreadyFinal', 'The job has ended.');
    case 'alreadyReported':
      return new HttpRefusal('alreadyReported', 'The job has reported its timeout already.');
    case 'unknown':
      return unknownJob();
    case 'invalid':
      return invalid('It is more than a job may be given.', 'byMs');
    case 'notAllowed':
      return new HttpRefusal('forbidden', 'This node may not give jobs more time.');
    default:
      return notLeader();
  }
}

/**
 * Routes for whoever runs the system: workers, what happened to a job, what is due, and what nobody
 * could take. They look into the place that this program hosts.
 */

import { z } from 'zod';
import { ID_PATTERN } from '../../machines/jobs/addresses.ts';
import { id } from '../../machines/jobs/messages/fields.ts';
import type { Manager, WorkerPage, WorkerView } from '../../programs/jobs/index.ts';
import { messageOf, RuntimeError } from '../../runtime/errors.ts';
import type { ActorRow } from '../../runtime/query.ts';
import type { Undelivered } from '../../runtime/undelivered.ts';
import type { Answer } from '../answer.ts';
import { duration, pageLimit } from '../parameters.ts';
import { HttpRefusal, invalid } from '../refusal.ts';
import { type Call, routes, type Service } from '../route.ts';
import { read } from '../schema.ts';

const hosted = { isHosted: true } as const;

export const operationRoutes = routes([
  {
    name: 'workers.list',
    method: 'GET',
    path: '/v1/workers',
    ...hosted,
    run: workers,
  },
  {
    name: 'jobs.history',
    method: 'GET',
    path: '/v1/jobs/:jobId/history',
    ...hosted,
    run: history,
  },
  { name: 'timers.list', method: 'GET', path: '/v1/timers', ...hosted, run: timers },
  {
    name: 'undelivered.list',
    method: 'GET',
    path: '/v1/undelivered',
    ...hosted,
    run: undelivered,
  },
  {
    name: 'undelivered.show',
    method: 'GET',
    path: '/v1/undelivered/:id',
    ...hosted,
    run: showUndelivered,
  },
  {
    name: 'undelivered.retry',
    method: 'POST',
    path: '/v1/undelivered/:id/retry',
    ...hosted,
    body: 'small',
    run: retry,
  },
  {
    name: 'undelivered.drop',
    method: 'DELETE',
    path: '/v1/undelivered/:id',
    ...hosted,
    run: drop,
  },
]);

/** Workers of one answer; a gate has those of all its datacenters. */
const WORKERS_MAX = 10_000;

async function workers({ client }: Service, { query }: Call): Promise<Answer> {
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

function history({ program }: Service, { parameters, query }: Call): Answer {
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

const timersQuery = z.strictObject({
  before: duration.optional(),
  kind: id.optional(),
  limit: pageLimit(1_000),
  cursor: z.string().min(1).max(1_024).optional(),
});

/** Rows that are looked at before others have their turn. */
const ROWS_AT_ONCE = 250;
/** Rows that are looked at for one page: whoever looks for few among many asks on. */
const ROWS_MAX = 20_000;

/** Actors that wait for a moment, by their addresses; each with the next one only. */
async function timers({ program, clock }: Service, { query }: Call): Promise<Answer> {
  const { before, kind, limit, cursor } = read(timersQuery, query);
  const now = clock.now();
  const runtime = program.runtime as Manager['runtime'];
  const found: ActorRow[] = [];
  let after = cursor;
  let lookedAt = 0;
  do {
    if (lookedAt > 0) await new Promise<void>((resolve) => clock.defer(resolve));
    const page = runtime.query({
      limit: Math.min(limit - found.length, ROWS_AT_ONCE),
      lookedAtMax: ROWS_AT_ONCE,
      deadlineBefore: before === undefined ? Number.MAX_SAFE_INTEGER : now + before,
      ...(kind !== undefined && { kind }),
      ...(after !== undefined && { cursor: after }),
    });
    found.push(...page.actors);
    after = page.cursor;
    lookedAt += ROWS_AT_ONCE;
  } while (after !== undefined && found.length < limit && lookedAt < ROWS_MAX);
  const due = found.map(({ address, kind: of, state, dueAt }) => {
    const at = dueAt ?? now;
    return { address, kind: of, state, dueAt: at, dueInMs: Math.max(0, at - now) };
  });
  return { status: 200, body: { timers: due, cursor: after ?? null } };
}

const undeliveredQuery = z.strictObject({
  limit: pageLimit(500),
  cursor: z.string().min(1).max(128).optional(),
});

/** Without what they say: a list of large events would be larger still. */
function undelivered({ program }: Service, { query }: Call): Answer {
  const { limit, cursor } = read(undeliveredQuery, query);
  const rest = after(program.runtime.undelivered(), cursor);
  const page = rest.slice(0, limit).map(({ id: own, at, to, from, event, error }) => ({
    id: own,
    at,
    to,
    from: from ?? null,
    type: event.type,
    error,
  }));
  const last = rest.length > limit ? (page.at(-1)?.id ?? null) : null;
  return { status: 200, body: { undelivered: page, cursor: last } };
}

/** Oldest first. Where the one that the cursor names has left meanwhile, none that may be new is passed over. */
function after(all: readonly Undelivered[], cursor: string | undefined): readonly Undelivered[] {
  if (cursor === undefined) return all;
  const index = all.findIndex(({ id }) => id === cursor);
  if (index >= 0) return all.slice(index + 1);
  const moment = momentOf(cursor);
  return all.filter(({ id }) => momentOf(id) >= moment);
}

/** An id begins with when it was made, in letters that rise with time. */
const momentOf = (id: string): string => id.split('-', 1)[0] as string;

function showUndelivered({ program }: Service, { parameters, query }: Call): Answer {
  read(nothing, query);
  return { status: 200, body: find(program, parameters.id) };
}

async function retry({ program }: Service, call: Call): Promise<Answer> {
  read(nothing, call.query);
  read(nothing, call.body);
  const { id: wanted } = find(program, call.parameters.id);
  try {
    await program.runtime.retryUndelivered(wanted);
  } catch (thrown) {
    const isFinal = thrown instanceof RuntimeError && !thrown.retryable;
    if (!isFinal) throw thrown;
    throw new HttpRefusal('stillRefused', messageOf(thrown));
  }
  return { status: 200, body: { id: wanted, delivered: true } };
}

async function drop({ program }: Service, call: Call): Promise<Answer> {
  read(nothing, call.query);
  const { id: wanted } = find(program, call.parameters.id);
  await program.runtime.dropUndelivered(wanted);
  return { status: 200, body: { id: wanted, dropped: true } };
}

function find({ runtime }: Service['program'], wanted: string | undefined): Undelivered {
  const found = runtime.undelivered().find((one) => one.id === wanted);
  if (found === undefined) throw new HttpRefusal('notFound', 'There is no such message.');
  return found;
}

const nothing = z.strictObject({});

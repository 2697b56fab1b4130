/**
 * Routes for operators of a node: what is due, what waits for others, and what nobody could take. They look
 * into the place that this program hosts.
 */

import { z } from 'zod';
import { id } from '../../machines/jobs/messages/fields.ts';
import type { Undelivered } from '../../runtime/actor.ts';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { actorPage } from '../actor-page.ts';
import type { Answer } from '../answer.ts';
import { duration, pageLimit } from '../parameters.ts';
import { HttpRefusal } from '../refusal.ts';
import { type Call, routes, type Service } from '../route.ts';
import { read } from '../schema.ts';

const hosted = { isHosted: true } as const;

export const operationRoutes = routes([
  { name: 'timers.list', method: 'GET', path: '/v1/timers', ...hosted, run: timers },
  { name: 'waiting.list', method: 'GET', path: '/v1/waiting', ...hosted, run: waiting },
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

const timersQuery = z.strictObject({
  before: duration.optional(),
  kind: id.optional(),
  limit: pageLimit(1_000),
  cursor: z.string().min(1).max(1_024).optional(),
});

/** Actors that wait for a moment, the next one first; each with its next one only. */
async function timers(service: Service, { query }: Call): Promise<Answer> {
  const { before, kind, limit, cursor } = read(timersQuery, query);
  const now = service.clock.now();
  const page = await actorPage(service, {
    limit,
    sort: 'deadline',
    deadlineBefore: before === undefined ? Number.MAX_SAFE_INTEGER : now + before,
    ...(kind !== undefined && { kind }),
    ...(cursor !== undefined && { cursor }),
  });
  const due = page.actors.map(({ address, kind: of, state, dueAt }) => {
    const at = dueAt ?? now;
    return { address, kind: of, state, dueAt: at, dueInMs: Math.max(0, at - now) };
  });
  return { status: 200, body: { timers: due, cursor: page.cursor } };
}

/** Places that do not answer, and how much waits for each. */
function waiting({ program }: Service, { query }: Call): Answer {
  read(nothing, query);
  const places = program.runtime.waiting().map(({ node = null, ...place }) => ({ ...place, node }));
  return { status: 200, body: { waiting: places } };
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

/** Oldest first. Where the entry that the cursor names has left meanwhile, none that may be new is skipped. */
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
